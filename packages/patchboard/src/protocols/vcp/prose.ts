import { REQUEST_START } from '@patchboard/wire/vcp';
import { openTicks, openTildes, scanCode, scanFence, skipTildes } from './code.ts';
import { cutMarker } from './finder.ts';
import { isLineBeginning } from './line-lead.ts';
import type { Scan } from './scan.ts';
import type { Outside } from './state.ts';
import { isCutTag, scanThought, tagAt } from './thought.ts';

const PROSE_MARKERS = [REQUEST_START];

/** Continues outside of blocks. Returns false if more text is needed. */
export function scanOutside(scan: Scan, place: Outside): boolean {
  switch (place.kind) {
    case 'prose':
      return scanProse(scan);
    case 'ticks':
      return openTicks(scan, place.run);
    case 'tildes':
      return openTildes(scan, place.run);
    case 'code':
      return scanCode(scan, place);
    case 'fence':
      return scanFence(scan, place);
    case 'thought':
      return scanThought(scan, place);
  }
}

function scanProse(scan: Scan): boolean {
  const { text, find } = scan;
  for (;;) {
    const lessThan = find.lessThan.next(scan.at);
    const tick = find.tick.next(scan.at, lessThan);
    const tilde = find.tilde.next(scan.at, lessThan);
    if (tick < lessThan && tick < tilde) {
      scan.at = tick;
      return openTicks(scan, 0);
    }
    if (tilde < lessThan) {
      scan.at = tilde;
      if (isLineBeginning(scan.lead())) return openTildes(scan, 0);
      skipTildes(scan);
      continue;
    }
    if (lessThan === Infinity) {
      scan.at = text.length;
      return false;
    }
    scan.at = lessThan;
    if (text.startsWith(REQUEST_START, lessThan) && lessThan >= scan.damagedEnd) {
      if (scan.takePlainRequest()) continue;
      scan.openBlock();
      return true;
    }
    if (openThought(scan)) return true;
    if (isCut(scan)) return false;
    scan.at += 1;
  }
}

function openThought(scan: Scan): boolean {
  const tag = tagAt(scan.text, scan.at);
  if (tag === null || tag.isClosing || tag.isEmpty) return false;
  scan.at += tag.length;
  scan.place = { kind: 'thought', think: 0, thinking: 0, [tag.name]: 1 };
  return true;
}

/** Whether the text from `at` on may be the beginning of a marker. */
function isCut({ text, at, isLast }: Scan): boolean {
  if (isLast) return false;
  if (isCutTag(text, at)) return true;
  return text.length - at < REQUEST_START.length && cutMarker(text, at, PROSE_MARKERS) === at;
}
