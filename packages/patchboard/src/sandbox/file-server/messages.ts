import type { FailureCode, Reason } from '@patchboard/wire';
import type {
  FileChange,
  FileContent,
  FileVersion,
  FolderEntry,
  GlobAnswer,
  GlobQuery,
  GrepAnswer,
  GrepQuery,
  ReadOptions,
} from '../../core/sandbox.ts';

/** The operations of the file server, with parameters and result. */
export interface Operations {
  read: { readonly params: { path: string; options: ReadOptions }; readonly result: FileContent | null };
  replace: { readonly params: { changes: readonly FileChange[] }; readonly result: readonly FileVersion[] };
  list: { readonly params: { path: string }; readonly result: readonly FolderEntry[] };
  glob: { readonly params: GlobQuery; readonly result: GlobAnswer };
  grep: { readonly params: GrepQuery; readonly result: GrepAnswer };
}

export type Operation = keyof Operations;

export type Request = {
  [Kind in Operation]: {
    readonly id: number;
    readonly kind: Kind;
    readonly params: Operations[Kind]['params'];
  };
}[Operation];

/** Cancels the search with this request id. */
export interface Cancel {
  readonly id: number;
  readonly kind: 'cancel';
}

export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: FailureCode; readonly why: Reason };
