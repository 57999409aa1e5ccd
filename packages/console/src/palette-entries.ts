import { CONSOLE_PAGES } from '@patchboard/wire';
import { computed, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { maySee } from './data/session.ts';
import { useRecentCalls, useTools } from './data/queries.ts';
import { useUpstreams } from './data/upstreams.ts';
import { wantedForm } from './form-focus.ts';
import { useGo } from './palette-go.ts';
import { useCallSearches } from './palette-searches.ts';
import { useEntriesById } from './palette-ids.ts';
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

/** The pages, tools, recent calls, runs, agents, failure codes and actions that match the search words. */
export function usePaletteEntries(words: Ref<string>): ComputedRef<readonly PaletteEntry[]> {
  const all = useAllEntries();
  const { listed, fallback } = useCallSearches(words);
  const byId = useEntriesById(words);
  return computed(() => {
    const text = words.value.trim().toLowerCase();
    const wanted = text.split(/\s+/);
    // Without words the list is what can be browsed; codes and agents are only found.
    const candidates = text === '' ? all.value : [...all.value, ...listed.value];
    const found = candidates.filter(({ words: own, kind, also = '' }) =>
      wanted.every((word) => `${own} ${kind} ${also}`.toLowerCase().includes(word)),
    );
    const ids = new Set(found.map(({ id }) => id));
    const exact = byId.value.filter(({ id }) => !ids.has(id));
    const shown = [...exact, ...found].slice(0, MAX_ENTRIES);
    return fallback.value === null ? shown : [...shown, fallback.value];
  });
}

function useAllEntries(): ComputedRef<readonly PaletteEntry[]> {
  const { t } = useI18n();
  const go = useGo();
  const { data: tools } = useTools();
  const { data: upstreams } = useUpstreams();
  const { data: calls } = useRecentCalls({ limit: 50 });
  return computed(() => [
    ...CONSOLE_PAGES.filter(maySee).map((name) => ({
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
      act: () => {
        wantedForm.value = name;
        go({ name: 'tester', query: { tool: name, pane: 'sandbox' } })();
      },
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
