import type { FailureCode } from '@patchboard/wire';
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

/** What the file server is asked; each kind has its own answer. */
export interface Questions {
  read: { readonly ask: { path: string; options: ReadOptions }; readonly answer: FileContent | null };
  replace: { readonly ask: { changes: readonly FileChange[] }; readonly answer: readonly FileVersion[] };
  list: { readonly ask: { path: string }; readonly answer: readonly FolderEntry[] };
  glob: { readonly ask: GlobQuery; readonly answer: GlobAnswer };
  grep: { readonly ask: GrepQuery; readonly answer: GrepAnswer };
}

export type QuestionKind = keyof Questions;

export type Request = {
  [Kind in QuestionKind]: { readonly id: number; readonly kind: Kind; readonly ask: Questions[Kind]['ask'] };
}[QuestionKind];

/** Nobody waits for the answer to that question any more. */
export interface Cancel {
  readonly id: number;
  readonly kind: 'cancel';
}

export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: FailureCode; readonly message: string };
