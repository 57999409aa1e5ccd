import type { CallOrigin } from '../../core/call/call-origin.ts';

declare module '../../core/call/call-origin.ts' {
  interface CallOrigin {
    /** Id of the non-player character that the call is made for. */
    readonly npcId?: string;
  }
}

/** The origin of a tenant's call. */
export interface TenantOrigin extends CallOrigin {
  readonly siteId: string;
}

/** `CallOrigin` with the member that this API adds. */
export type { CallOrigin };
