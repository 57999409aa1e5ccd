import { ref, watch, type Ref } from 'vue';

export type ThemeChoice = 'light' | 'dark' | 'system';
export type Language = 'en' | 'zh';

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
  ['en', 'zh'],
  navigator.language.startsWith('zh') ? 'zh' : 'en',
);

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
export const isDark: Ref<boolean> = ref(false);

function applyTheme(): void {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && prefersDark.matches);
  document.documentElement.classList.toggle('dark', isDark.value);
}

watch(theme, applyTheme, { immediate: true });
prefersDark.addEventListener('change', applyTheme);
watch(language, (value) => (document.documentElement.lang = value === 'zh' ? 'zh-CN' : 'en'), {
  immediate: true,
});

export function toggleTheme(): void {
  theme.value = isDark.value ? 'light' : 'dark';
}

export function toggleLanguage(): void {
  language.value = language.value === 'zh' ? 'en' : 'zh';
}
