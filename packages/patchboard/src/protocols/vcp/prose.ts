import { REQUEST_START } from '@patchboard/wire/vcp';
import { cutMarker } from './finder.ts';
import { PROSE, type Place, type Scan } from './scan.ts';

type Outside = Exclude<Place, { kind: 'block' }>;

const THINK_OPENERS = ['<think>', '<thinking>'] as const;
const PROSE_MARKERS = [REQUEST_START, ...THINK_OPENERS];
/** A shorter run of backticks is inline code, which ends with its line. */
const FENCE_TICKS = 3;
const BACKTICK = 0x60;

/** Reads on outside of blocks. False: more text is needed. */
export function scanOutside(scan: Scan, place: Outside): boolean {
  switch (place.kind) {
    case 'prose':
      return place.run > 0 ? openCode(scan, place.run) : scanProse(scan);
    case 'code':
      return scanCode(scan, place.ticks, place.run);
    case 'fence':
      return scanFence(scan, place);
    case 'think':
      return scanThink(scan, place.closer);
  }
}

function scanProse(scan: Scan): boolean {
  for (;;) {
    const marker = scan.lessThan.next(scan.at);
    const tick = scan.tick.next(scan.at);
    if (tick < marker) {
      scan.at = tick;
      return openCode(scan, 0);
    }
    if (marker === Infinity) {
      scan.at = scan.text.length;
      return false;
    }
    scan.at = marker;
    if (scan.text.startsWith(REQUEST_START, marker)) {
      scan.openBlock();
      return true;
    }
    if (scan.text.startsWith('<think', marker) && openThought(scan)) return true;
    if (isCut(scan, marker)) return false;
    scan.at += 1;
  }
}

/** Near the end of the piece only: whether this may be the first half of a marker. */
function isCut(scan: Scan, at: number): boolean {
  if (scan.isLast || scan.text.length - at >= REQUEST_START.length) return false;
  return cutMarker(scan.text, at, PROSE_MARKERS) === at;
}

function openThought(scan: Scan): boolean {
  const opener = THINK_OPENERS.find((candidate) => scan.text.startsWith(candidate, scan.at));
  if (opener === undefined) return false;
  scan.at += opener.length;
  scan.place = { kind: 'think', closer: opener.replace('<', '</') };
  return true;
}

/** Counts on; `at` stands behind the run. False: the run may go on in the next piece. */
function countTicks(scan: Scan, run: number): { run: number; isWhole: boolean } {
  const from = scan.at;
  while (scan.text.charCodeAt(scan.at) === BACKTICK) scan.at += 1;
  return { run: run + scan.at - from, isWhole: scan.at < scan.text.length || scan.isLast };
}

function openCode(scan: Scan, before: number): boolean {
  const { run, isWhole } = countTicks(scan, before);
  scan.place = isWhole ? { kind: 'code', ticks: run, run: 0 } : { kind: 'prose', run };
  return isWhole;
}

function scanCode(scan: Scan, ticks: number, before: number): boolean {
  if (before === 0) {
    const tick = scan.tick.next(scan.at);
    const newline = scan.newline.next(scan.at);
    if (newline < tick) {
      scan.at = newline + 1;
      scan.place = ticks >= FENCE_TICKS ? { kind: 'fence', ticks, part: 'margin', run: 0 } : PROSE;
      return true;
    }
    scan.at = Math.min(tick, scan.text.length);
    if (tick === Infinity) return false;
  }
  const { run, isWhole } = countTicks(scan, before);
  if (!isWhole) scan.place = { kind: 'code', ticks, run };
  else scan.place = run === ticks ? PROSE : { kind: 'code', ticks, run: 0 };
  return isWhole;
}

/** A fence ends at a line that holds nothing but a run at least as long; lists and quotes may indent it. */
function scanFence(scan: Scan, place: Extract<Place, { kind: 'fence' }>): boolean {
  const { text } = scan;
  switch (place.part) {
    case 'margin':
      while (' \t>'.includes(text.charAt(scan.at)) && scan.at < text.length) scan.at += 1;
      if (scan.at === text.length) return false;
      scan.place = { ...place, part: text.charCodeAt(scan.at) === BACKTICK ? 'run' : 'line', run: 0 };
      return true;
    case 'run': {
      const { run, isWhole } = countTicks(scan, place.run);
      if (isWhole) scan.place = { ...place, part: run >= place.ticks ? 'after' : 'line', run: 0 };
      else scan.place = { ...place, run };
      return isWhole;
    }
    case 'after':
      while (' \t\r'.includes(text.charAt(scan.at)) && scan.at < text.length) scan.at += 1;
      if (scan.at === text.length) return false;
      scan.place = text.charAt(scan.at) === '\n' ? PROSE : { ...place, part: 'line' };
      return true;
    case 'line': {
      const newline = scan.newline.next(scan.at);
      scan.at = newline === Infinity ? text.length : newline + 1;
      if (newline !== Infinity) scan.place = { ...place, part: 'margin' };
      return newline !== Infinity;
    }
  }
}

function scanThink(scan: Scan, closer: string): boolean {
  const end = scan.text.indexOf(closer, scan.at);
  if (end === -1) {
    scan.at = scan.isLast ? scan.text.length : cutMarker(scan.text, scan.at, [closer]);
    return false;
  }
  scan.at = end + closer.length;
  scan.place = PROSE;
  return true;
}
