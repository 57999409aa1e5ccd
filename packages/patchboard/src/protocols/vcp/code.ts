import type { Scan } from './scan.ts';
import { PROSE, type OpenCode, type OpenFence } from './state.ts';
import { endOfRun } from './tick-runs.ts';

/** A shorter run of backticks begins inline code, which ends with its line; a shorter run of tildes is text. */
const FENCE_LENGTH = 3;
const BACKTICK = 0x60;
const TILDE = 0x7e;

/** Counts the run and moves `at` behind it. `isWhole` is false if the run may continue in the next piece. */
function countRun(scan: Scan, before: number, code: number): { run: number; isWhole: boolean } {
  const from = scan.at;
  scan.at = endOfRun(scan.text, from, code);
  return { run: before + scan.at - from, isWhole: scan.at < scan.text.length || scan.isLast };
}

/** A run of backticks: code up to the closing run on the line; without one, a fence, or text if it is too short. */
export function openTicks(scan: Scan, before: number): boolean {
  const { run, isWhole } = countRun(scan, before, BACKTICK);
  if (!isWhole) {
    scan.place = { kind: 'ticks', run };
    return false;
  }
  const { text, at } = scan;
  const newline = scan.find.newline.next(at);
  const partner = scan.runs.next(run, at);
  if (partner < newline) {
    scan.at = partner + run;
    scan.place = PROSE;
    return true;
  }
  if (newline === Infinity && !scan.isLast) {
    scan.emitText();
    scan.at = text.length;
    const trailing = text.length - startOfTicks(text, at);
    scan.place = {
      kind: 'code',
      ticks: run,
      run: trailing,
      held: text.slice(at),
      damagedEnd: Math.max(0, scan.damagedEnd - at),
    };
    return false;
  }
  scan.place = PROSE;
  if (run >= FENCE_LENGTH) openFence(scan, run, newline);
  return true;
}

/** The index where the backticks at the end of the text begin. */
function startOfTicks(text: string, from: number): number {
  let start = text.length;
  while (start > from && text.charCodeAt(start - 1) === BACKTICK) start -= 1;
  return start;
}

/** Continues a line whose end was not available when its backticks were read. */
export function scanCode(scan: Scan, place: OpenCode): boolean {
  const { text, find } = scan;
  let { run } = place;
  for (;;) {
    if (run === 0) {
      const tick = find.tick.next(scan.at);
      const newline = find.newline.next(scan.at);
      if (newline < tick || (tick === Infinity && scan.isLast)) return endLine(scan, place, newline);
      scan.at = Math.min(tick, text.length);
    }
    const counted = countRun(scan, run, BACKTICK);
    if (!counted.isWhole) {
      scan.place = { ...place, run: counted.run, held: place.held + text };
      return false;
    }
    run = 0;
    if (counted.run === place.ticks) {
      scan.emitCode(place);
      return true;
    }
  }
}

function endLine(scan: Scan, place: OpenCode, newline: number): true {
  if (place.ticks < FENCE_LENGTH) {
    scan.release(place);
    return true;
  }
  scan.emitCode(place);
  openFence(scan, place.ticks, newline);
  return true;
}

/** Opens a fence of backticks; the rest of the line belongs to it. */
function openFence(scan: Scan, length: number, newline: number): void {
  const isOpen = newline !== Infinity;
  scan.at = isOpen ? newline + 1 : scan.text.length;
  scan.place = { kind: 'fence', mark: '`', length, part: isOpen ? 'margin' : 'line', run: 0 };
}

/** Reads a run of tildes at the beginning of a line. */
export function openTildes(scan: Scan, before: number): boolean {
  const { run, isWhole } = countRun(scan, before, TILDE);
  if (!isWhole) scan.place = { kind: 'tildes', run };
  else if (run < FENCE_LENGTH) scan.place = PROSE;
  else scan.place = { kind: 'fence', mark: '~', length: run, part: 'line', run: 0 };
  return isWhole;
}

export function skipTildes(scan: Scan): void {
  scan.at = endOfRun(scan.text, scan.at, TILDE);
}

/** A fence ends at a line with only a run at least as long as the opening one; lists and quotes may indent it. */
export function scanFence(scan: Scan, place: OpenFence): boolean {
  const { text } = scan;
  const code = place.mark === '`' ? BACKTICK : TILDE;
  switch (place.part) {
    case 'margin':
      while (' \t>'.includes(text.charAt(scan.at)) && scan.at < text.length) scan.at += 1;
      if (scan.at === text.length) return false;
      scan.place = { ...place, part: text.charCodeAt(scan.at) === code ? 'run' : 'line', run: 0 };
      return true;
    case 'run': {
      const { run, isWhole } = countRun(scan, place.run, code);
      if (isWhole) scan.place = { ...place, part: run >= place.length ? 'after' : 'line', run: 0 };
      else scan.place = { ...place, run };
      return isWhole;
    }
    case 'after':
      while (' \t\r'.includes(text.charAt(scan.at)) && scan.at < text.length) scan.at += 1;
      if (scan.at === text.length) return false;
      scan.place = text.charAt(scan.at) === '\n' ? PROSE : { ...place, part: 'line' };
      return true;
    case 'line': {
      const newline = scan.find.newline.next(scan.at);
      scan.at = newline === Infinity ? text.length : newline + 1;
      if (newline !== Infinity) scan.place = { ...place, part: 'margin' };
      return newline !== Infinity;
    }
  }
}
