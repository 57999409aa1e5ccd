import { REQUEST_END, REQUEST_START, VALUE_OPENER, type ValueTag } from '@patchboard/wire/vcp';
import type { ParseError, ReplyItem } from '../protocol.ts';
import type { Field } from './block.ts';
import { Finder } from './finder.ts';

/** Where in the grammar a reply stands. `run`: how many backticks of an unfinished run were read. */
export type Place =
  | { readonly kind: 'prose'; readonly run: number }
  /** From a run of backticks to the next run of that length, or to the end of the line. */
  | { readonly kind: 'code'; readonly ticks: number; readonly run: number }
  | {
      readonly kind: 'fence';
      readonly ticks: number;
      readonly part: 'margin' | 'run' | 'after' | 'line';
      readonly run: number;
    }
  | { readonly kind: 'think'; readonly closer: string }
  | { readonly kind: 'block'; readonly block: Block; readonly part: BlockPart };

/** A request of which the end was not seen yet. Persistent, as fields may be many and old states stay good. */
export interface Block {
  readonly offset: number;
  /** What was read of it in earlier pieces. */
  readonly raw: string;
  readonly fields: FieldList | null;
  /** The first thing wrong with it: it will not be run. */
  readonly problem: ParseError | null;
}

export interface FieldList {
  readonly field: Field;
  readonly before: FieldList | null;
}

export type BlockPart =
  | { readonly kind: 'gap' }
  | { readonly kind: 'key' | 'colon' | 'open'; readonly key: string; readonly offset: number }
  | OpenValue
  /** After a problem: values are still skipped as values, until the end or the next start. */
  | { readonly kind: 'lost' };

export interface OpenValue {
  readonly kind: 'value';
  /** Null: nobody will read it. */
  readonly key: string | null;
  readonly keyOffset: number;
  readonly offset: number;
  readonly tag: ValueTag;
  /** What was read of it in earlier pieces. */
  readonly text: string;
}

export interface VcpState {
  readonly place: Place;
  /** May be the first half of a marker. */
  readonly tail: string;
  /** Of the tail, from the beginning of the reply. */
  readonly offset: number;
}

export const PROSE: Place = { kind: 'prose', run: 0 };
export const GAP: BlockPart = { kind: 'gap' };
export const LOST: BlockPart = { kind: 'lost' };

/** One piece of a reply being read: everything that moves lives here, and only as long as the piece is read. */
export class Scan {
  readonly text: string;
  /** Nothing comes after this piece: half a marker is text. */
  readonly isLast: boolean;
  readonly items: ReplyItem[] = [];
  place: Place;
  at = 0;
  readonly lessThan: Finder;
  readonly tick: Finder;
  readonly newline: Finder;
  readonly start: Finder;
  readonly end: Finder;
  readonly opener: Finder;
  readonly plainCloser: Finder;
  readonly #offset: number;
  /** From here on the text belongs to the prose or the block that is being read. */
  #from = 0;

  constructor(state: VcpState, chunk: string, isLast: boolean) {
    const text = state.tail + chunk;
    this.text = text;
    this.isLast = isLast;
    this.place = state.place;
    this.#offset = state.offset;
    this.lessThan = new Finder(text, '<');
    this.tick = new Finder(text, '`');
    this.newline = new Finder(text, '\n');
    this.start = new Finder(text, REQUEST_START);
    this.end = new Finder(text, REQUEST_END);
    this.opener = new Finder(text, VALUE_OPENER);
    this.plainCloser = new Finder(text, '「末」');
  }

  /** From the beginning of the reply. */
  offsetOf(at: number): number {
    return this.#offset + at;
  }

  /** The request marker stands at `at`. */
  openBlock(): void {
    this.#emitText();
    this.#from = this.at;
    const block: Block = { offset: this.offsetOf(this.at), raw: '', fields: null, problem: null };
    this.place = { kind: 'block', block, part: GAP };
    this.at += REQUEST_START.length;
  }

  /** The block ends before `at`, well or badly. */
  closeBlock(block: Block): string {
    const raw = block.raw + this.text.slice(this.#from, this.at);
    this.#from = this.at;
    this.place = PROSE;
    return raw;
  }

  /** Ends the piece: what was not used up is the tail of the next. */
  leave(): VcpState {
    let { place } = this;
    if (place.kind === 'block') {
      const raw = place.block.raw + this.text.slice(this.#from, this.at);
      place = { ...place, block: { ...place.block, raw } };
    } else {
      this.#emitText();
    }
    return { place, tail: this.text.slice(this.at), offset: this.offsetOf(this.at) };
  }

  #emitText(): void {
    if (this.at > this.#from) this.items.push({ kind: 'text', text: this.text.slice(this.#from, this.at) });
    this.#from = this.at;
  }
}
