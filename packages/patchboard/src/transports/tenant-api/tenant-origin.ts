declare module '../../core/call/call-origin.ts' {
  interface CallOrigin {
    /** The character that speaks. */
    readonly npcId?: string;
  }
}

/** With what this API adds to it. */
export type { CallOrigin } from '../../core/call/call-origin.ts';
