import { computed, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { maySee } from './data/session.ts';
import { kindsOfId } from './id-kinds.ts';
import type { PaletteEntry } from './palette-entries.ts';
import { useGo } from './palette-go.ts';

/** A call, run or trace by its full id, of any age. */
export function useEntriesById(words: Ref<string>): ComputedRef<readonly PaletteEntry[]> {
  const { t } = useI18n();
  const go = useGo();
  return computed(() => {
    const id = words.value.trim();
    return kindsOfId(id)
      .filter((kind) => maySee(kind))
      .map((kind) => ({
        id: `${kind} ${id}`,
        words: id,
        kind: t(`palette.${kind}`),
        act: go({ name: kind, params: { id } }),
      }));
  });
}
