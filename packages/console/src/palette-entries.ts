import { computed, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { useRouter, type RouteLocationRaw } from 'vue-router';
import { PAGES } from './navigation.ts';
import { useRecentCalls, useTools } from './data/queries.ts';
import { useUpstreams } from './data/upstreams.ts';
import { isDark, toggleLanguage, toggleTheme } from './preferences.ts';

export interface PaletteEntry {
  readonly id: string;
  readonly words: string;
  readonly kind: string;
  /** Other words that find the entry. They are not shown. */
  readonly also?: string;
  act(): void;
}

const MAX_ENTRIES = 40;

/** The pages, tools, recent calls and actions that match the search words. */
export function usePaletteEntries(words: Ref<string>): ComputedRef<readonly PaletteEntry[]> {
  const all = useAllEntries();
  const callById = useCallById(words);
  return computed(() => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    const found = all.value.filter(({ words: text, kind, also = '' }) =>
      wanted.every((word) => `${text} ${kind} ${also}`.toLowerCase().includes(word)),
    );
    const named = callById.value;
    const isNew = named !== null && !found.some(({ id }) => id === named.id);
    return (isNew ? [named, ...found] : found).slice(0, MAX_ENTRIES);
  });
}

function useGo(): (to: RouteLocationRaw) => () => void {
  const router = useRouter();
  return (to) => () => {
    router.push(to).catch(() => undefined);
  };
}

function useAllEntries(): ComputedRef<readonly PaletteEntry[]> {
  const { t } = useI18n();
  const go = useGo();
  const { data: tools } = useTools();
  const { data: upstreams } = useUpstreams();
  const { data: calls } = useRecentCalls({ limit: 50 });
  return computed(() => [
    ...PAGES.map((name) => ({
      id: `page ${name}`,
      words: t(`pages.${name}`),
      kind: t('palette.page'),
      ...(name === 'upstreams' ? { also: t('palette.upstreamsAlso') } : {}),
      act: go({ name }),
    })),
    {
      id: 'theme',
      words: t(isDark.value ? 'shell.light' : 'shell.dark'),
      kind: t('palette.deed'),
      act: toggleTheme,
    },
    { id: 'language', words: t('shell.otherLanguage'), kind: t('palette.deed'), act: toggleLanguage },
    ...(tools.value ?? []).map(({ name }) => ({
      id: `tool ${name}`,
      words: name,
      kind: t('palette.tool'),
      act: go({ name: 'tester', query: { tool: name, pane: 'sandbox' } }),
    })),
    ...(upstreams.value ?? []).map(({ name, kind }) => ({
      id: `upstream ${name}`,
      words: `${name} (${t(`upstreams.kinds.${kind}`)})`,
      kind: t('palette.upstream'),
      act: go({ name: 'upstreams', query: { upstream: name } }),
    })),
    ...(calls.value ?? []).map(({ tool_call_id: id, tool_name: tool }) => ({
      id: `call ${id}`,
      words: `${tool} ${id}`,
      kind: t('palette.call'),
      act: go({ name: 'call', params: { id } }),
    })),
  ]);
}

/** A call looked up by its full id, of any age. */
function useCallById(words: Ref<string>): ComputedRef<PaletteEntry | null> {
  const { t } = useI18n();
  const go = useGo();
  return computed(() => {
    const id = words.value.trim();
    if (!/^tc_\w+$/.test(id)) return null;
    return {
      id: `call ${id}`,
      words: id,
      kind: t('palette.call'),
      act: go({ name: 'call', params: { id } }),
    };
  });
}
