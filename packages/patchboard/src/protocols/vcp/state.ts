import type { ValueTag } from '@patchboard/wire/vcp';
import type { ParseError } from '../protocol.ts';
import type { Field } from './block.ts';
import type { OpenNesting } from './nesting.ts';

/** The character of a code fence. */
export type FenceMark = '`' | '~';

/** Where in the grammar a reply stands. */
export type Place = Outside | { readonly kind: 'block'; readonly block: Block; readonly part: BlockPart };

/** A place outside of requests. `run`: how many characters of an unfinished run of backticks or tildes were read. */
export type Outside =
  /** `lead`: the line so far, if only blanks and the signs of quotes and lists stand in it; else null. */
  | { readonly kind: 'prose'; readonly lead: string | null }
  | { readonly kind: 'ticks' | 'tildes'; readonly run: number }
  | OpenCode
  | OpenFence
  | OpenThought;

/** After a run of backticks whose partner, or the end of the line without one, has not been read yet. */
export interface OpenCode {
  readonly kind: 'code';
  readonly ticks: number;
  readonly run: number;
  /** What follows the run, from earlier pieces: without a partner it is read again, as text. */
  readonly held: string;
  /** How much of `held` belongs to a damaged request. */
  readonly dead: number;
}

export interface OpenFence {
  readonly kind: 'fence';
  readonly mark: FenceMark;
  readonly length: number;
  readonly part: 'margin' | 'run' | 'after' | 'line';
  readonly run: number;
}

/** How many tags of each name are open. */
export interface OpenThought {
  readonly kind: 'thought';
  readonly think: number;
  readonly thinking: number;
}

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
  /** Null: the value belongs to a damaged request and is not read. */
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
  /** Null: no request began inside an open value so far. */
  readonly nesting: OpenNesting | null;
}

export const PROSE: Place = { kind: 'prose', lead: null };
export const GAP: BlockPart = { kind: 'gap' };
export const LOST: BlockPart = { kind: 'lost' };
