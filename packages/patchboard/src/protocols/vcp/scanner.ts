import type { ReplyItem } from '../protocol.ts';
import { abandonBlock } from './damage.ts';
import { scanBlock } from './fields.ts';
import { leadBefore } from './line-lead.ts';
import { settleNesting } from './nesting.ts';
import { scanOutside } from './prose.ts';
import { Scan } from './scan.ts';
import { PROSE, type VcpState } from './state.ts';

export const BEGINNING: VcpState = {
  place: { kind: 'prose', lead: '' },
  tail: '',
  offset: 0,
  nesting: null,
};

/** What may begin something else than prose. */
const MARK = /[<`~]/;

/** Reads one more piece of a reply. Every character is looked at a bounded number of times, however it is cut. */
export function step(state: VcpState, chunk: string): readonly [VcpState, readonly ReplyItem[]] {
  const { place, tail, nesting } = state;
  // The short way for what most pieces are.
  if (place.kind === 'prose' && tail === '' && nesting === null && chunk !== '' && !MARK.test(chunk)) {
    const lead = leadBefore(chunk, chunk.length, place.lead);
    const next = { ...state, place: lead === null ? PROSE : { kind: 'prose' as const, lead } };
    return [{ ...next, offset: state.offset + chunk.length }, [{ kind: 'text', text: chunk }]];
  }
  const scan = new Scan(state, chunk, false);
  readAll(scan);
  const next = scan.leave();
  return [next, scan.items];
}

export function finish(state: VcpState): readonly ReplyItem[] {
  const scan = new Scan(state, '', true);
  readAll(scan);
  if (scan.place.kind === 'block') abandonBlock(scan, scan.place.block, scan.place.part);
  else scan.emitText();
  return scan.nesting === null ? scan.items : [...scan.items, ...settleNesting(scan.nesting)];
}

function readAll(scan: Scan): void {
  for (let goesOn = true; goesOn;) {
    const { place } = scan;
    goesOn = place.kind === 'block' ? scanBlock(scan, place.block, place.part) : scanOutside(scan, place);
  }
}
