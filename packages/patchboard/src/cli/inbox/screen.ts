import type { ApprovalRequestView } from '@patchboard/wire';
import { approvalFacts, editLines, expiresIn } from '../approval-text.ts';
import { cell, type Colour } from '../output.ts';
import { fit, printable, verbatimJson, widthOf, wrap } from '../terminal-text.ts';
import { selectedRequest, type InboxState } from './state.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface View {
  readonly size: Size;
  readonly now: number;
  /** The URL of the server, for the title. */
  readonly where: string;
  paint(colour: Colour, text: string): string;
}

export interface Frame {
  /** One line per row of the screen. */
  readonly lines: readonly string[];
  /** Number of lines of the detail that fit on the screen. */
  readonly page: number;
  /** First visible line of the detail, clamped to the end. */
  readonly scroll: number;
  /** Whether the last line of the detail is on the screen. */
  readonly isAtEnd: boolean;
}

/** Rows for title, two rules, message and keys. */
const FIXED_ROWS = 5;
const NO_PAINT = null;

type Line = readonly [colour: Colour | null, text: string];

export function drawFrame(state: InboxState, view: View): Frame {
  const { columns, rows } = view.size;
  const list = listLines(state, view);
  const page = Math.max(1, rows - FIXED_ROWS - list.length);
  const detail = detailLines(state, view).flatMap(([colour, text]): Line[] =>
    wrap(text, Math.max(10, columns)).map((part): Line => [colour, part]),
  );
  const scroll = Math.min(state.scroll, Math.max(0, detail.length - page));
  const shown = detail.slice(scroll, scroll + page);
  const below = detail.length - scroll - shown.length;
  const lines: Line[] = [
    titleLine(state, view),
    ...list,
    ['dim', rule('', columns)],
    ...shown,
    ...Array.from({ length: page - shown.length }, (): Line => [NO_PAINT, '']),
    ['dim', rule(below > 0 ? ` ${below} more lines: Space ` : '', columns)],
    messageLine(state),
    ['dim', keysFor(state)],
  ];
  const paint = ([colour, text]: Line): string => {
    const fitted = fit(text, columns);
    return colour === null ? fitted : view.paint(colour, fitted);
  };
  return { lines: lines.slice(0, rows).map(paint), page, scroll, isAtEnd: below <= 0 };
}

function titleLine({ items, isLive }: InboxState, { where }: View): Line {
  const count = items.length === 0 ? 'nothing waits' : `${items.length} waiting`;
  return ['bold', `Patchboard inbox  ${count}  ${cell(where)}${isLive ? '' : '  NOT REACHABLE, retrying'}`];
}

/** Returns the part of the list around the selection, at most a third of the screen. */
function listLines({ items, selected }: InboxState, { size, now }: View): Line[] {
  const max = Math.max(1, Math.floor((size.rows - FIXED_ROWS) / 3));
  const index = items.findIndex((item) => item.tool_call_id === selected);
  const first = Math.max(0, Math.min(index - Math.floor(max / 2), items.length - max));
  const shown = items.slice(first, first + max);
  const toolWidth = Math.max(0, ...shown.map((item) => widthOf(cell(item.tool_name))));
  return shown.map((item): Line => {
    const isSelected = item.tool_call_id === selected;
    const tool = fit(cell(item.tool_name), 40);
    const gap = ' '.repeat(Math.max(0, Math.min(toolWidth, 40) - widthOf(tool)));
    const text = `${isSelected ? '▸' : ' '} ${countdown(item, now).padStart(9)}  ${tool}${gap}  ${cell(item.agent_id)}`;
    return [isSelected ? 'bold' : NO_PAINT, text];
  });
}

function countdown(item: ApprovalRequestView, now: number): string {
  return Date.parse(item.expires_at) <= now ? 'expired' : expiresIn(item, now);
}

function detailLines(state: InboxState, { now, size }: View): Line[] {
  const request = selectedRequest(state);
  if (request === undefined) {
    return [
      [NO_PAINT, ''],
      [NO_PAINT, 'Nothing waits for a decision. New requests appear here automatically.'],
    ];
  }
  const facts = approvalFacts(request, now).map(([label, value]): Line => {
    const line = `${label.padEnd(9)} ${value}`;
    // The description of the tool may be long, and does not affect what runs.
    return [NO_PAINT, label === 'does' ? fit(line, size.columns) : line];
  });
  return [...facts, ...argumentLines(state, request)];
}

function argumentLines({ mode }: InboxState, request: ApprovalRequestView): Line[] {
  if (mode.kind !== 'review') {
    const text = verbatimJson(request.args).split('\n');
    return [['bold', 'arguments'], ...text.map((line): Line => [NO_PAINT, line])];
  }
  const colours = { '+': 'green', '-': 'red', ' ': NO_PAINT } as const;
  const diff = editLines(request.args, mode.args);
  return [
    ['bold', 'arguments, as you changed them'],
    ...diff.map(({ mark, text }): Line => [colours[mark], `${mark} ${text}`]),
  ];
}

function messageLine({ mode, message }: InboxState): Line {
  if (mode.kind === 'reason') return ['yellow', `Reason: ${printable(mode.text)}▏`];
  if (mode.kind === 'busy') return ['dim', 'working…'];
  if (message === null) return [NO_PAINT, ''];
  const colour: Colour | null = message.tone === 'good' ? 'green' : message.tone === 'bad' ? 'red' : NO_PAINT;
  return [colour, cell(message.text)];
}

function keysFor({ mode, items }: InboxState): string {
  switch (mode.kind) {
    case 'reason':
      return 'Enter deny   Esc back';
    case 'review':
      return 'Y approve with these   E edit again   N back';
    case 'busy':
      return 'Ctrl-C quit';
    case 'list':
      return items.length === 0
        ? 'R refresh   Q quit'
        : 'A approve   D deny   E edit   J/K move   Space scroll   R refresh   Q quit';
  }
}

function rule(words: string, columns: number): string {
  return `──${words}`.padEnd(columns, '─');
}
