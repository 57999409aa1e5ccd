import { computed, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { useRouter, type RouteLocationRaw } from 'vue-router';
import { PAGES } from './navigation.ts';
import { useRecentCalls, useTools } from './data/queries.ts';
import { isDark, language, theme } from './preferences.ts';

export interface PaletteEntry {
  readonly id: string;
  readonly words: string;
  readonly kind: string;
  act(): void;
}

const MAX_ENTRIES = 40;

/** Pages, tools, recent calls and a few deeds, as far as the words fit. */
export function usePaletteEntries(words: Ref<string>): ComputedRef<readonly PaletteEntry[]> {
  const { t } = useI18n();
  const router = useRouter();
  const { data: tools } = useTools();
  const { data: calls } = useRecentCalls({ limit: 50 });
  const go = (to: RouteLocationRaw) => (): void => {
    router.push(to).catch(() => undefined);
  };

  const all = computed<PaletteEntry[]>(() => [
    ...PAGES.map((name) => ({
      id: `page ${name}`,
      words: t(`pages.${name}`),
      kind: t('palette.page'),
      act: go({ name }),
    })),
    {
      id: 'theme',
      words: t(isDark.value ? 'shell.light' : 'shell.dark'),
      kind: t('palette.deed'),
      act: () => (theme.value = isDark.value ? 'light' : 'dark'),
    },
    {
      id: 'language',
      words: t('shell.otherLanguage'),
      kind: t('palette.deed'),
      act: () => (language.value = language.value === 'zh' ? 'en' : 'zh'),
    },
    ...(tools.value ?? []).map(({ name }) => ({
      id: `tool ${name}`,
      words: name,
      kind: t('palette.tool'),
      act: go({ name: 'tester', query: { tool: name, pane: 'sandbox' } }),
    })),
    ...(calls.value ?? []).map(({ tool_call_id: id, tool_name: tool }) => ({
      id: `call ${id}`,
      words: `${tool} ${id}`,
      kind: t('palette.call'),
      act: go({ name: 'call', params: { id } }),
    })),
  ]);

  return computed(() => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    const found = all.value.filter(({ words: text, kind }) =>
      wanted.every((word) => `${text} ${kind}`.toLowerCase().includes(word)),
    );
    const id = words.value.trim();
    const byId = {
      id: 'by id',
      words: id,
      kind: t('palette.call'),
      act: go({ name: 'call', params: { id } }),
    };
    const isNew = /^tc_\w+$/.test(id) && !found.some((entry) => entry.id === `call ${id}`);
    return (isNew ? [byId, ...found] : found).slice(0, MAX_ENTRIES);
  });
}
