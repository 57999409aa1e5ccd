import { reason, type Reason } from '../../reasons/reason-text.ts';

export interface Pattern {
  test(text: string): boolean;
  /** Number of instructions of the compiled program. */
  readonly size: number;
  /** Cost of a test per character, in steps of the step budget. */
  readonly stepsPerChar: number;
}

export type CompiledPattern =
  { readonly ok: true; readonly pattern: Pattern } | { readonly ok: false; readonly problem: Reason };

/** Compiles with the native engine, which may backtrack: for trusted patterns only. */
export function compileNativePattern(source: string): CompiledPattern {
  try {
    const expression = new RegExp(source, 'u');
    return { ok: true, pattern: { test: (text) => expression.test(text), size: 1, stepsPerChar: 1 } };
  } catch (error) {
    return {
      ok: false,
      problem: reason('pattern_malformed', { error: error instanceof Error ? error.message : 'bad syntax' }),
    };
  }
}
