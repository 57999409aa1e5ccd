import { contentText, isContentValue } from '@patchboard/wire';
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
  json(value: unknown): void;
  /** Writes JSON on one line, for streams. */
  jsonLine(value: unknown): void;
  /**
   * Writes a table, fitted to the width of the terminal; in a pipe, at full width. On a terminal that is too narrow each row
   * is a list.
   */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void;
  /** Writes a message to stderr. */
  note(text: string): void;
  /** Whether stderr is a terminal. */
  readonly isWatched: boolean;
  /** Colours text if stdout is a terminal with colours. */
  paint(colour: Colour, text: string): string;
}

export interface Column {
  readonly title: string;
  /** Whether the column shrinks when the terminal is too narrow. At least one column should. */
  readonly flexible?: boolean;
}

const CODES: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };
const GAP = '  ';
const NARROWEST_COLUMN = 8;

export function createOutput(parts: {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly noColour: boolean;
}): Output {
  const { stdout, stderr } = parts;
  const colours = stdout.isTTY === true && !parts.noColour;
  const width = stdout.isTTY === true ? (stdout.columns ?? 80) : Infinity;
  const data = (text: string): void => void stdout.write(`${text}\n`);
  return {
    data,
    json: (value) => data(printableJson(value)),
    jsonLine: (value) => data(printable(JSON.stringify(value))),
    table: (columns, rows) => {
      for (const line of layOut(columns, rows, width)) data(line);
    },
    note: (text) => void stderr.write(`${printable(text)}\n`),
    isWatched: stderr.isTTY === true,
    paint: (colour, text) => (colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text),
  };
}

/** Returns the lines. A table that does not fit, although its flexible columns have shrunk, becomes a list per row. */
export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const lines = [columns.map((column) => column.title), ...rows];
  const natural = columns.map((_column, at) => Math.max(...lines.map((cells) => widthOf(cells[at] ?? ''))));
  const widths = shrink(columns, natural, width);
  if (widths === null) return rows.flatMap((cells, at) => listOf(columns, cells, width, at > 0));
  return lines.map((cells) =>
    widths
      .map((columnWidth, at) => padded(cells[at] ?? '', columnWidth))
      .join(GAP)
      .trimEnd(),
  );
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
  const indent = ' '.repeat(titleWidth + GAP.length);
  const lines = columns.flatMap(({ title }, at) => {
    const text = cells[at] ?? '';
    if (text === '') return [];
    const [first = '', ...rest] = wrapped(text, width - indent.length);
    return [`${padded(title, titleWidth)}${GAP}${first}`, ...rest.map((line) => indent + line)];
  });
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
