import { computed, ref, watch, type ComputedRef, type Ref } from 'vue';

export type ThemeChoice = 'light' | 'dark' | 'system';

/** The tag for `lang`, the name of the language in itself, and the label of the button that selects it. */
export const LANGUAGES = {
  en: { tag: 'en', name: 'English', label: 'EN' },
  zh: { tag: 'zh-CN', name: '中文', label: '中' },
} as const satisfies Readonly<Record<string, Record<'tag' | 'name' | 'label', string>>>;

export type Language = keyof typeof LANGUAGES;

const LANGUAGE_NAMES = Object.keys(LANGUAGES) as Language[];

/** Chinese of any region is `zh`; every other language is `en`. */
function languageOf(tag: string): Language {
  return tag.startsWith('zh') ? 'zh' : 'en';
}

const THEME_KEY = 'patchboard.theme';
const LANGUAGE_KEY = 'patchboard.language';

/** One setting in local storage. */
function remembered<T extends string>(key: string, allowed: readonly T[], otherwise: T): Ref<T> {
  const kept = localStorage.getItem(key);
  const setting = ref(allowed.find((value) => value === kept) ?? otherwise) as Ref<T>;
  watch(setting, (value) => localStorage.setItem(key, value));
  return setting;
}

export const theme: Ref<ThemeChoice> = remembered<ThemeChoice>(
  THEME_KEY,
  ['light', 'dark', 'system'],
  'system',
);
export const language: Ref<Language> = remembered<Language>(
  LANGUAGE_KEY,
  LANGUAGE_NAMES,
  languageOf(navigator.language),
);

/** The language that the button in the top bar switches to. */
export const otherLanguage: ComputedRef<Language> = computed(() => (language.value === 'zh' ? 'en' : 'zh'));

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
export const isDark: Ref<boolean> = ref(false);

function applyTheme(): void {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && prefersDark.matches);
  document.documentElement.classList.toggle('dark', isDark.value);
}

watch(theme, applyTheme, { immediate: true });
prefersDark.addEventListener('change', applyTheme);
watch(language, (value) => (document.documentElement.lang = LANGUAGES[value].tag), {
  immediate: true,
});

export function toggleTheme(): void {
  theme.value = isDark.value ? 'light' : 'dark';
}

export function toggleLanguage(): void {
  language.value = otherLanguage.value;
}
