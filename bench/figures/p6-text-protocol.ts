import { performance } from 'node:perf_hooks';
import { protocolOf } from 'patchboard';
import type { Figure, FigureOptions, Target } from '../figure.ts';
import { armOf } from '../measurement.ts';
import { comparePaired, type Spread } from '../statistics.ts';

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';
const BLOCKS = 200;
const PROSE = `${'I will look at the source folder first, and then decide what to change in it, if anything. '.repeat(54)}\n`;
/** Twice as much input: linear time would be 2, quadratic 4. */
const LINEAR: Target = { atMost: 3 };
const vcp = protocolOf('vcp');

/** P6: parsing a reply of a megabyte with 200 requests, also damaged and in small chunks. */
export async function textProtocol({ quick, say }: FigureOptions): Promise<Figure> {
  const slices = quick ? 1 : 10;
  const rounds = quick ? 1 : 40;
  const few = quick ? 1 : 3;
  const reply = replyOf(BLOCKS);
  const runs: Record<string, number[]> = {};
  const time = (name: string, work: () => unknown, times = rounds): void => {
    (runs[name] ??= []).push(timeOf(work, times));
  };
  const unclosed = `${START}tool_name:「始」x`;
  const long = `${START}tool_name:「始」x「末」text:「始」${'a word '.repeat(30_000)}「末」${END}`;
  for (let slice = 0; slice < slices; slice += 1) {
    say(`P6: slice ${slice + 1} of ${slices}`);
    time('parse', () => vcp.parseToolRequests(reply));
    time('indexOf, requests and values', () => findByIndexOf(reply));
    time('indexOf, start markers only', () => findStarts(reply));
    time('10,000 unclosed', () => vcp.parseToolRequests(unclosed.repeat(10_000)), few);
    time('20,000 unclosed', () => vcp.parseToolRequests(unclosed.repeat(20_000)), few);
    time('streamed, 100k characters', () => inPieces(long.slice(0, 100_000)), few);
    time('streamed, 200k characters', () => inPieces(long.slice(0, 200_000)), few);
    // Yield to the event loop between slices.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return figureOf(runs, reply.length);
}

function figureOf(runs: Readonly<Record<string, readonly number[]>>, characters: number): Figure {
  const compare = (one: string, other: string): Spread => comparePaired(runs[one] ?? [], runs[other] ?? []);
  return {
    id: 'P6',
    work: [
      `A reply of ${(characters / 1e6).toFixed(1)} million characters with ${BLOCKS} requests: read whole ÷ one pass of indexOf over it that`,
      'finds every request and every value. Damaged: requests never closed, twice as many; streamed: pieces of 4 characters.',
    ],
    durability: 'none: nothing is kept',
    outcomes: [
      {
        name: 'one pass of indexOf ÷ the parse, by time',
        ...compare('indexOf, requests and values', 'parse'),
        target: { atLeast: 0.45 },
      },
      {
        name: 'damaged, twice as much ÷ once',
        ...compare('20,000 unclosed', '10,000 unclosed'),
        target: LINEAR,
      },
      {
        name: 'streamed, twice as much ÷ once',
        ...compare('streamed, 200k characters', 'streamed, 100k characters'),
        target: LINEAR,
      },
      {
        name: 'one pass for start markers only ÷ the parse',
        ...compare('indexOf, start markers only', 'parse'),
      },
    ],
    arms: Object.fromEntries(Object.entries(runs).map(([name, values]) => [name, armOf('ms', values)])),
  };
}

/** A flat string, as from a socket; a concatenated (rope) string would be slower to search. */
function replyOf(blocks: number): string {
  const fields =
    'tool_name:「始」directory-tree_listFiles「末」\npath:「始」src/tools「末」\nrecursive:「始」false「末」';
  return Buffer.from(`${PROSE}${START}\n${fields}\n${END}\n`.repeat(blocks)).toString();
}

function findByIndexOf(text: string): number {
  let found = 0;
  for (let start = text.indexOf(START); start !== -1;) {
    const end = text.indexOf(END, start);
    for (let at = text.indexOf('「始」', start); at !== -1 && at < end; at = text.indexOf('「始」', at)) {
      const close = text.indexOf('「末」', at);
      found += text.slice(at + 3, close).length;
      at = close;
    }
    start = text.indexOf(START, end);
  }
  return found;
}

function findStarts(text: string): number {
  let found = 0;
  for (let at = text.indexOf(START); at !== -1; at = text.indexOf(START, at + START.length)) found += 1;
  return found;
}

function inPieces(text: string): number {
  let state = vcp.begin();
  let items = 0;
  for (let at = 0; at < text.length; at += 4) {
    const [next, found] = vcp.step(state, text.slice(at, at + 4));
    state = next;
    items += found.length;
  }
  return items + vcp.finish(state).length;
}

/** Milliseconds; the minimum of several rounds, because other load only adds time. */
function timeOf(work: () => unknown, rounds: number): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    work();
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}
