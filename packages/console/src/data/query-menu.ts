import {
  completionAt,
  insertCompletion,
  type QueryCompletion,
  type QueryKeyName,
  type QueryOption,
  type QueryProblem,
} from '@patchboard/wire';

/** Values that only the server knows: tools and agents. */
export type ServerValues = Readonly<Partial<Record<QueryKeyName, readonly string[]>>>;

/** What can be inserted at the cursor of a query. */
export interface QueryMenu {
  readonly completion: QueryCompletion;
  readonly options: readonly QueryOption[];
}

const MAX_OPTIONS = 50;
const LEADING_KEY = /^[a-z]+/;

/** `keys`: the only ones that the query may have; null: all. */
export function menuAt(
  text: string,
  cursor: number,
  known: ServerValues,
  keys: readonly QueryKeyName[] | null,
): QueryMenu {
  const completion = completionAt(text, cursor);
  const allowed = completion.options.filter(
    ({ text: option }) =>
      completion.kind !== 'key' || keys === null || keys.some((key) => key === LEADING_KEY.exec(option)?.[0]),
  );
  const values = completion.key === null ? [] : (known[completion.key] ?? []);
  const all = [...allowed, ...matching(values, completion.typed)].slice(0, MAX_OPTIONS);
  const isWritten = all.length === 1 && all[0]?.text === completion.typed;
  return { completion, options: isWritten ? [] : all };
}

function matching(values: readonly string[], typed: string): readonly QueryOption[] {
  const wanted = typed.toLowerCase();
  const places = values.map((text) => ({ text, place: text.toLowerCase().indexOf(wanted) }));
  const starting = places.filter(({ place }) => place === 0);
  const containing = places.filter(({ place }) => place > 0);
  return [...starting, ...containing].map(({ text }) => ({ text, help: null }));
}

/** The index of the next option; -1, between the last and the first, is none. */
export function steppedOption(active: number, step: 1 | -1, count: number): number {
  return ((active + 1 + step + count + 1) % (count + 1)) - 1;
}

/** The option that Tab inserts: the active one, else the first that continues what is typed. Null: Tab moves the focus. */
export function tabOption({ completion, options }: QueryMenu, active: number): QueryOption | null {
  const first = completion.typed === '' ? undefined : options[0];
  return options[active] ?? first ?? null;
}

export function withOption(
  text: string,
  { completion }: QueryMenu,
  option: QueryOption,
): { readonly text: string; readonly cursor: number } {
  return insertCompletion(text, completion, option.text);
}

/** Problems outside the part that is being written, which is not finished yet. */
export function finishedProblems(
  problems: readonly QueryProblem[],
  cursor: number | null,
): readonly QueryProblem[] {
  return problems.filter(
    ({ column, length }) => cursor === null || cursor < column - 1 || cursor > column - 1 + length,
  );
}

export interface MarkedPart {
  readonly text: string;
  readonly isWrong: boolean;
}

/** Divides the text at the borders of its problems, which may overlap. */
export function markedParts(text: string, problems: readonly QueryProblem[]): readonly MarkedPart[] {
  const wrong = problems.map(({ column, length }) => ({ from: column - 1, to: column - 1 + length }));
  const borders = [...new Set([0, text.length, ...wrong.flatMap(({ from, to }) => [from, to])])]
    .filter((at) => at <= text.length)
    .sort((one, other) => one - other);
  return borders.slice(0, -1).map((from, index) => ({
    text: text.slice(from, borders[index + 1]),
    isWrong: wrong.some((part) => part.from <= from && from < part.to),
  }));
}
