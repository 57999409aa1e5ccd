import { contentText, isContentValue } from '@patchboard/wire';
import { selectedValues, type SelectPath } from './select-path.ts';
import { fit, printable, printableJson, widthOf } from './terminal-text.ts';

/** The part of `process.stdout` and `process.stderr` that the output uses. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

/** Writes data to stdout and messages to stderr, so that a pipe contains data only. */
export interface Output {
  /** Writes text and a line end to stdout. */
  data(text: string): void;
  /** `format` writes the whole value; default: indented, with control characters escaped. */
  json(value: unknown, format?: (value: unknown) => string): void;
  /** Writes JSON on one line, for streams. */
  jsonLine(value: unknown): void;
  /** From now on `json` and `jsonLine` write the values at the path, one per line: strings raw, others as JSON. */
  select(path: SelectPath): void;
  /** Writes a label and a value per line. On a terminal a long value is broken at its spaces. */
  facts(facts: readonly (readonly [label: string, value: string])[]): void;
  /**
   * Writes a table, fitted to the width of the terminal; in a pipe, at full width. On a terminal that is too narrow the table
   * first loses columns with `dropOrder`; then each row is a list, with all columns.
   */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void;
  /** Writes a message to stderr. */
  note(text: string): void;
  /** The width of the terminal; infinite in a pipe. */
  readonly columns: number;
  /** Whether stderr is a terminal. */
  readonly isWatched: boolean;
  /** Colours text if stdout is a terminal with colours. */
  paint(colour: Colour, text: string): string;
}

export interface Column {
  readonly title: string;
  /** Whether the column shrinks when the terminal is too narrow. Not for ids and names, which are copied into commands. */
  readonly flexible?: boolean;
  /** On a narrow terminal the column with the lowest number is left out first. Without a number it stays. */
  readonly dropOrder?: number;
}

/** Returns the columns; those with these titles stay on a narrow terminal. */
export function keepColumns(titles: ReadonlySet<string>, columns: readonly Column[]): readonly Column[] {
  return columns.map((column) => {
    if (!titles.has(column.title)) return column;
    const { dropOrder: _dropOrder, ...kept } = column;
    return kept;
  });
}

const CODES: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };
const GAP = '  ';
const NARROWEST_COLUMN = 8;
/** Columns are dropped before a flexible column becomes narrower than this. */
const COMFORTABLE_COLUMN = 24;

export function createOutput(parts: {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly noColour: boolean;
  /** Overrides the width of the terminal. */
  readonly columns?: number | null;
}): Output {
  const { stdout, stderr } = parts;
  const isTerminal = stdout.isTTY === true;
  const colours = isTerminal && !parts.noColour;
  const width = isTerminal ? (parts.columns ?? stdout.columns ?? 80) : Infinity;
  const data = (text: string): void => void stdout.write(`${text}\n`);
  let path: SelectPath | null = null;
  const selected = (value: unknown, from: SelectPath): void => {
    for (const one of selectedValues(from, plainJson(value))) data(selectedText(one, isTerminal));
  };
  return {
    data,
    json: (value, format = printableJson) => (path === null ? data(format(value)) : selected(value, path)),
    jsonLine: (value) => (path === null ? data(printable(JSON.stringify(value))) : selected(value, path)),
    select: (given) => void (path = given),
    facts: (facts) => {
      for (const line of factLines(facts, width)) data(line);
    },
    table: (columns, rows) => {
      for (const line of layOut(columns, rows, width)) data(line);
    },
    note: (text) => void stderr.write(`${printable(text)}\n`),
    columns: width,
    isWatched: stderr.isTTY === true,
    paint: (colour, text) => (colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text),
  };
}

/** Returns the value as a reader of its JSON sees it: without members that are undefined. */
function plainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null)) as unknown;
}

/** In a pipe a string is not changed; on a terminal control characters are escaped. */
function selectedText(value: unknown, isTerminal: boolean): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return isTerminal || typeof value !== 'string' ? printable(text) : text;
}

function factLines(facts: readonly (readonly [label: string, value: string])[], width: number): string[] {
  const labelWidth = Math.max(...facts.map(([label]) => widthOf(label)));
  const indent = ' '.repeat(labelWidth + GAP.length);
  return facts.flatMap(([label, value]) => {
    const [first = '', ...rest] = wrapped(value, width - indent.length);
    return [`${padded(label, labelWidth)}${GAP}${first}`, ...rest.map((line) => indent + line)];
  });
}

/** Returns the lines. A table that does not fit, although its flexible columns have shrunk, becomes a list per row. */
export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const lines = [columns.map((column) => column.title), ...rows];
  const natural = columns.map((_column, at) => Math.max(...lines.map((cells) => widthOf(cells[at] ?? ''))));
  const kept = keptColumns(columns, natural, width);
  const widths = shrink(
    kept.flatMap((at) => columns[at] ?? []),
    kept.map((at) => natural[at] ?? 0),
    width,
  );
  if (widths === null) return rows.flatMap((cells, at) => listOf(columns, cells, width, at > 0));
  return lines.map((cells) =>
    widths
      .map((columnWidth, at) => padded(cells[kept[at] ?? -1] ?? '', columnWidth))
      .join(GAP)
      .trimEnd(),
  );
}

/** Returns the positions of the columns that stay, after those with `dropOrder` left until the others fit. */
function keptColumns(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const comfortable = natural.map((each, at) =>
    columns[at]?.flexible === true ? Math.min(each, COMFORTABLE_COLUMN) : each,
  );
  let kept = columns.map((_column, at) => at);
  for (;;) {
    const needed = kept.reduce((sum, at) => sum + (comfortable[at] ?? 0), GAP.length * (kept.length - 1));
    const orders = kept.flatMap((at) => columns[at]?.dropOrder ?? []);
    if (needed <= width || orders.length === 0) return kept;
    const first = Math.min(...orders);
    kept = kept.filter((at) => columns[at]?.dropOrder !== first);
  }
}

/** Truncates only plain text: coloured cells are in columns that do not shrink. */
function padded(cell: string, width: number): string {
  const text = widthOf(cell) > width ? fit(cell, width) : cell;
  return text + ' '.repeat(width - widthOf(text));
}

/** The cells of one row below each other, each with its title. Empty ones are left out. */
function listOf(
  columns: readonly Column[],
  cells: readonly string[],
  width: number,
  isNext: boolean,
): string[] {
  const titleWidth = Math.max(...columns.map(({ title }) => widthOf(title)));
  const facts = columns.flatMap(({ title }, at): [string, string][] => {
    const text = cells[at] ?? '';
    return text === '' ? [] : [[title.padEnd(titleWidth), text]];
  });
  const lines = factLines(facts, width);
  return isNext ? ['', ...lines] : lines;
}

/** Breaks text at its spaces. A longer word stays whole. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Shrinks the flexible columns, the widest first. Returns null if that is not enough. */
function shrink(columns: readonly Column[], natural: readonly number[], width: number): number[] | null {
  const widths = [...natural];
  const gaps = GAP.length * (columns.length - 1);
  let excess = widths.reduce((sum, each) => sum + each, gaps) - width;
  while (excess > 0) {
    const candidates = widths.map((each, at) => (columns[at]?.flexible === true ? each : 0));
    const widest = Math.max(...candidates);
    if (widest <= NARROWEST_COLUMN) return null;
    widths[candidates.indexOf(widest)] = widest - 1;
    excess -= 1;
  }
  return widths;
}

/** Converts untrusted text to one line for a table cell. */
export function cell(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/**
 * Formats the result of a tool: the value alone for `{ value }`, content as text that names what a terminal cannot show,
 * otherwise indented JSON.
 * On a terminal, control characters are escaped; in a pipe, text is not changed.
 */
export function resultText(result: unknown, onTerminal: boolean): string {
  const value = isContentValue(result) ? contentText(result) : soleValue(result);
  if (typeof value !== 'string') return printableJson(value);
  return onTerminal ? printable(value) : value;
}

function soleValue(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const keys = Object.keys(result);
  return keys.length === 1 && keys[0] === 'value' ? (result as { value: unknown }).value : result;
}
