import type { DocumentChange } from './documents.ts';
import type { StoredTool } from './tools/registered-tool.ts';

/** The present state of a client tool that was changed. */
export interface ToolChange {
  readonly tenant: string;
  readonly name: string;
  /** Null: no client offers it any more. */
  readonly tool: StoredTool | null;
  /** Registered over HTTP, so it stays registered without a connection. */
  readonly isKept: boolean;
  /** Whether a device that is connected to another node offers it. */
  readonly isOnlineElsewhere: boolean;
}

/** What was changed after a revision: the present state of each document and tool, not its history. */
export interface StoreChanges {
  /** The newest revision that is included. */
  readonly revision: number;
  readonly documents: readonly DocumentChange[];
  readonly tools: readonly ToolChange[];
}
