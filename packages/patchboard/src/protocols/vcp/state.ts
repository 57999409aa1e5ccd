import type { ValueTag } from '@patchboard/wire/vcp';
import type { ParseError } from '../protocol.ts';
import type { Field } from './block.ts';
import type { OpenNesting } from './nesting.ts';

/** The character of a code fence. */
type FenceMark = '`' | '~';

/** The position of the parser in the grammar. */
export type Place = Outside | { readonly kind: 'block'; readonly block: Block; readonly part: BlockPart };

/** A position outside of requests. `run`: the characters read so far of an unfinished run of backticks or tildes. */
export type Outside =
  /** `lead`: the line so far, if it has only spaces and the marks of quotes and lists; else null. */
  | { readonly kind: 'prose'; readonly lead: string | null }
  | { readonly kind: 'ticks' | 'tildes'; readonly run: number }
  | OpenCode
  | OpenFence
  | OpenThought;

/** After a run of backticks, before its closing run or the end of the line. */
export interface OpenCode {
  readonly kind: 'code';
  readonly ticks: number;
  readonly run: number;
  /** The text after the run, from earlier pieces. Without a closing run it is parsed again, as text. */
  readonly held: string;
  /** The length of the part of `held` that belongs to a damaged request. */
  readonly damagedEnd: number;
}

export interface OpenFence {
  readonly kind: 'fence';
  readonly mark: FenceMark;
  readonly length: number;
  readonly part: 'margin' | 'run' | 'after' | 'line';
  readonly run: number;
}

/** The number of open tags of each name. */
export interface OpenThought {
  readonly kind: 'thought';
  readonly think: number;
  readonly thinking: number;
}

/** An incomplete request. Its fields are a persistent list: states are immutable, and fields may be many. */
export interface Block {
  readonly offset: number;
  /** The text from earlier pieces. */
  readonly raw: string;
  readonly fields: FieldList | null;
  /** The first problem of the request; if set, it is not run. */
  readonly problem: ParseError | null;
}

interface FieldList {
  readonly field: Field;
  readonly before: FieldList | null;
}

export type BlockPart =
  | { readonly kind: 'gap' }
  | { readonly kind: 'key' | 'colon' | 'open'; readonly key: string; readonly offset: number }
  | OpenValue
  /** After a problem: values are skipped until the end marker or the next start marker. */
  | { readonly kind: 'damaged' };

export interface OpenValue {
  readonly kind: 'value';
  /** Null: the value belongs to a damaged request and is skipped. */
  readonly key: string | null;
  readonly keyOffset: number;
  readonly offset: number;
  readonly tag: ValueTag;
  /** The text from earlier pieces. */
  readonly text: string;
}

export interface VcpState {
  readonly place: Place;
  /** Unparsed text that may be the beginning of a marker. */
  readonly unparsed: string;
  /** The offset of `unparsed` in the reply. */
  readonly offset: number;
  /** Null: no request has begun inside an open value. */
  readonly nesting: OpenNesting | null;
}

export const PROSE: Place = { kind: 'prose', lead: null };
export const GAP: BlockPart = { kind: 'gap' };
export const DAMAGED: BlockPart = { kind: 'damaged' };
