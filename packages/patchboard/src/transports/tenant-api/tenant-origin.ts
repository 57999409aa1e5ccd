declare module '../../core/call/call-origin.ts' {
  interface CallOrigin {
    /** The character that speaks. */
    readonly npcId?: string;
  }
}

/** `CallOrigin` with the member that this API adds. */
export type { CallOrigin } from '../../core/call/call-origin.ts';
