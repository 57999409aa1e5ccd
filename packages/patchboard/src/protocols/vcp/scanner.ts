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
  unparsed: '',
  offset: 0,
  nesting: null,
};

/** Characters that may begin something other than prose. */
const MARK = /[<`~]/;

/** Parses one more piece of a reply. Each character is read a bounded number of times, however the reply is split. */
export function step(state: VcpState, chunk: string): readonly [VcpState, readonly ReplyItem[]] {
  const { place, unparsed, nesting } = state;
  // Fast path for most pieces.
  if (place.kind === 'prose' && unparsed === '' && nesting === null && chunk !== '' && !MARK.test(chunk)) {
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
  for (let hasMore = true; hasMore;) {
    const { place } = scan;
    hasMore = place.kind === 'block' ? scanBlock(scan, place.block, place.part) : scanOutside(scan, place);
  }
}
