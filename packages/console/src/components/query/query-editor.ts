import {
  parseCallQuery,
  type QueryKeyName,
  type QueryOption,
  type QueryProblem,
  type QueryTarget,
} from '@patchboard/wire';
import { computed, nextTick, ref, watch, type ComputedRef, type Ref } from 'vue';
import {
  finishedProblems,
  menuAt,
  steppedOption,
  tabOption,
  withOption,
  type QueryMenu,
  type ServerValues,
} from '../../data/query-menu.ts';

/** The state of a field that edits a query: its text before it is searched for, the menu, and problems. */
export interface QueryEditor {
  readonly draft: Ref<string>;
  /** Empty while the menu is closed. */
  readonly options: ComputedRef<readonly QueryOption[]>;
  /** Index of the option that Enter inserts; -1: none. */
  readonly active: Ref<number>;
  readonly problems: ComputedRef<readonly QueryProblem[]>;
  readonly onInput: () => void;
  readonly onFocus: () => void;
  readonly onBlur: () => void;
  readonly onClick: () => void;
  readonly onKey: (event: KeyboardEvent) => void;
  readonly search: () => void;
  readonly accept: (option: QueryOption) => Promise<void>;
  readonly select: (problem: QueryProblem) => Promise<void>;
  readonly clear: () => void;
}

export interface QueryEdited {
  /** Set only to queries without problems. */
  readonly query: Ref<string>;
  readonly target: QueryTarget;
  readonly values: () => ServerValues;
  readonly input: Readonly<Ref<HTMLInputElement | null>>;
}

/** The keys that queries for metrics may have; null: all. */
const KEYS: Readonly<Partial<Record<QueryTarget, readonly QueryKeyName[]>>> = { metrics: ['tool', 'agent'] };

export function useQueryEditor({ query, target, values, input }: QueryEdited): QueryEditor {
  const draft = ref(query.value);
  const cursor = ref(0);
  const isOpen = ref(false);
  const active = ref(-1);
  /** The cursor in a part that is being written; null: all problems are shown. */
  const writingAt = ref<number | null>(null);
  const menu = computed<QueryMenu>(() => menuAt(draft.value, cursor.value, values(), KEYS[target] ?? null));
  const options = computed(() => (isOpen.value ? menu.value.options : []));
  const problems = computed<readonly QueryProblem[]>(() => {
    const parsed = parseCallQuery(draft.value, Date.now(), target);
    return parsed.ok ? [] : finishedProblems(parsed.problems, writingAt.value);
  });

  function close(): void {
    isOpen.value = false;
    writingAt.value = null;
  }

  watch(query, (now) => {
    draft.value = now;
    close();
  });

  function note(isWriting: boolean): void {
    cursor.value = input.value?.selectionStart ?? draft.value.length;
    active.value = -1;
    if (isWriting) writingAt.value = cursor.value;
  }

  function search(): void {
    close();
    const text = draft.value.trim();
    if (parseCallQuery(text, Date.now(), target).ok) query.value = text;
  }

  async function accept(option: QueryOption): Promise<void> {
    const next = withOption(draft.value, menu.value, option);
    draft.value = next.text;
    await nextTick();
    input.value?.setSelectionRange(next.cursor, next.cursor);
    note(true);
    // A key is followed by its values; after a value the query may be finished.
    isOpen.value = menu.value.completion.kind === 'value';
  }

  async function select({ column, length }: QueryProblem): Promise<void> {
    input.value?.focus();
    await nextTick();
    input.value?.setSelectionRange(column - 1, column - 1 + length);
    note(false);
    isOpen.value = false;
  }

  function move(step: 1 | -1): true {
    if (!isOpen.value) note(true);
    isOpen.value = true;
    active.value = steppedOption(active.value, step, menu.value.options.length);
    document.getElementById(`query-option-${active.value}`)?.scrollIntoView({ block: 'nearest' });
    return true;
  }

  function enter(): true {
    const chosen = options.value[active.value];
    if (chosen === undefined) search();
    else accept(chosen).catch(() => undefined);
    return true;
  }

  function tab(): boolean {
    const option = isOpen.value ? tabOption(menu.value, active.value) : null;
    if (option !== null) accept(option).catch(() => undefined);
    return option !== null;
  }

  /** Closes the menu; without one, takes back what was not searched for. */
  function escape(): boolean {
    const isMenuShown = options.value.length > 0;
    isOpen.value = false;
    if (isMenuShown || draft.value === query.value) return isMenuShown;
    draft.value = query.value;
    return true;
  }

  /** Returns whether the key was used. */
  function handled({ key, shiftKey, isComposing }: KeyboardEvent): boolean {
    if (isComposing) return false;
    if (key === 'ArrowDown') return move(1);
    if (key === 'ArrowUp') return move(-1);
    if (key === 'Enter') return enter();
    if (key === 'Tab') return !shiftKey && tab();
    return key === 'Escape' && escape();
  }

  return {
    draft,
    options,
    active,
    problems,
    search,
    accept,
    select,
    onInput() {
      note(true);
      isOpen.value = true;
    },
    onFocus() {
      note(false);
      isOpen.value = draft.value === '';
    },
    onBlur: close,
    onClick: () => note(false),
    onKey(event) {
      if (!handled(event)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    clear() {
      draft.value = '';
      query.value = '';
      input.value?.focus();
    },
  };
}
