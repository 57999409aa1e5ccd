import type { NodeTable } from './node-table.ts';
import type { TakenCalls } from './taken-calls.ts';

export interface OfferedCallsParts {
  readonly table: NodeTable;
  readonly taken: TakenCalls;
  readonly room: () => number;
  readonly canRun: (tenant: string, toolName: string, toolVersion: string) => boolean;
}

/** Offered calls that are read at once: some may be of tools that this node does not have. */
const LOOKED_AT = 200;

/** Takes calls that wait for a slot of another node, as many as this node has room for. */
export async function takeOffered({ table, taken, room, canRun }: OfferedCallsParts): Promise<void> {
  if (room() <= 0) return;
  const offered = await table.offered(LOOKED_AT);
  const possible = offered.filter((call) => canRun(call.tenant, call.toolName, call.toolVersion));
  const ids = possible.slice(0, Math.max(0, room())).map(({ id }) => id);
  await taken.passFromOthers(await table.takeOffered(ids));
}
