import { FAILURE_CODES, queryTerm } from '@patchboard/wire';
import { computed, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { useRecentCalls, useRecentRuns } from './data/queries.ts';
import { maySee } from './data/session.ts';
import type { PaletteEntry } from './palette-entries.ts';
import { useGo } from './palette-go.ts';

interface CallSearches {
  /** Recent runs, agents of recent calls and runs, and every failure code. */
  readonly listed: ComputedRef<readonly PaletteEntry[]>;
  /** Searches all calls for the words; null without words. */
  readonly fallback: ComputedRef<PaletteEntry | null>;
}

/** What leads to runs and to lists of calls. */
export function useCallSearches(words: Ref<string>): CallSearches {
  const { t } = useI18n();
  const go = useGo();
  const { data: calls } = useRecentCalls({ limit: 50 });
  const { data: runs } = useRecentRuns();
  const search = (query: string): (() => void) => go({ name: 'calls', query: { query } });
  const agents = computed(
    () =>
      new Set([
        ...(calls.value ?? []).map(({ agent_id: agent }) => agent),
        ...(runs.value ?? []).map(({ agent_id: agent }) => agent),
      ]),
  );
  const listed = computed(() => {
    if (!maySee('calls')) return [];
    return [
      ...FAILURE_CODES.map((code) => ({
        id: `code ${code}`,
        words: code,
        kind: t('palette.code'),
        act: search(queryTerm('code', [code])),
      })),
      ...[...agents.value].map((agent) => ({
        id: `agent ${agent}`,
        words: agent,
        kind: t('palette.agent'),
        act: search(queryTerm('agent', [agent])),
      })),
      ...(runs.value ?? []).map(({ run_id: id, agent_id: agent }) => ({
        id: `run ${id}`,
        words: id,
        kind: t('palette.run'),
        also: agent,
        act: go({ name: 'run', params: { id } }),
      })),
    ];
  });
  const fallback = computed(() => {
    const text = words.value.trim();
    if (text === '' || !maySee('calls')) return null;
    return { id: 'search', words: text, kind: t('palette.search'), act: search(text) };
  });
  return { listed, fallback };
}
