import type { ReplyItem } from '../protocol.ts';
import { abandonBlock, scanBlock } from './fields.ts';
import { scanOutside } from './prose.ts';
import { PROSE, Scan, type VcpState } from './scan.ts';

export const BEGINNING: VcpState = { place: PROSE, tail: '', offset: 0 };

/** Reads one more piece of a reply. Every character is looked at a bounded number of times, however it is cut. */
export function step(state: VcpState, chunk: string): readonly [VcpState, readonly ReplyItem[]] {
  const scan = new Scan(state, chunk, false);
  readAll(scan);
  const next = scan.leave();
  return [next, scan.items];
}

export function finish(state: VcpState): readonly ReplyItem[] {
  const scan = new Scan(state, '', true);
  readAll(scan);
  if (scan.place.kind === 'block') abandonBlock(scan, scan.place.block, scan.place.part);
  scan.leave();
  return scan.items;
}

function readAll(scan: Scan): void {
  for (let goesOn = true; goesOn;) {
    const { place } = scan;
    goesOn = place.kind === 'block' ? scanBlock(scan, place.block, place.part) : scanOutside(scan, place);
  }
}
