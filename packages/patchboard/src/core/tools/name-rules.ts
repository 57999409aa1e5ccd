import { reason } from '@patchboard/wire';
import { DEFAULT_TENANT } from '../access/principal.ts';
import type { Digest } from '../ports.ts';
import { rejected, type RegisteredTool, type Rejection, type StoredTool } from './registered-tool.ts';
import type { ToolIndex } from './tool-index.ts';
import { isReservedName, toEarlierWireName, toWireName, WIRE_NAME_LENGTH } from './tool-names.ts';

interface NameParts {
  readonly toolIndex: ToolIndex;
  readonly digest: Digest;
}

/** Why a client cannot register the name; null if it can. `isStored`: the tool was registered before a restart. */
export function clientNameProblem(
  index: ToolIndex,
  given: {
    readonly tenant: string;
    readonly clientId: string;
    readonly name: string;
    readonly isStored: boolean;
  },
): Rejection | null {
  const { tenant, clientId, name, isStored } = given;
  const taken = takenProblem(index, tenant, clientId, name);
  // A name that the client has already was registered before the rules for new names existed.
  if (taken !== null || isStored || index.clientTool(tenant, name) !== undefined) return taken;
  return reservedProblem(name) ?? similarProblem(index, tenant, name);
}

function reservedProblem(name: string): Rejection | null {
  return isReservedName(name) ? rejected('name_invalid', reason('name_prefix_reserved', { name })) : null;
}

function takenProblem(index: ToolIndex, tenant: string, clientId: string, name: string): Rejection | null {
  const holder = index.holderOf(tenant, name);
  if (holder === undefined) return null;
  const isSame = holder.name === name;
  if (isSame && holder.clientId === clientId) return null;
  // The tenant does not see the tools of packs that it does not have.
  if (!index.isOffered(tenant, holder)) return rejected('name_taken', reason('name_reserved', { name }));
  const owner = index.clientTool(tenant, holder.name)?.clientId;
  const held = [
    owner === undefined
      ? reason('held_by_server_choose_other')
      : reason('held_by_client', { client: owner, tool: holder.name }),
  ];
  const why = isSame
    ? reason('name_held', { name, holder: held })
    : reason('wire_name_held', { name, tool: holder.name, holder: held });
  return rejected('name_taken', why);
}

/** Another client of the tenant holds exactly this name. */
export function heldByClient(name: string, client: string): Rejection {
  const holder = [reason('held_by_client', { client, tool: name })];
  return rejected('name_taken', reason('name_held', { name, holder }));
}

/** Rejects a new name that a model or an operator could confuse with an existing one. */
function similarProblem(index: ToolIndex, tenant: string, name: string): Rejection | null {
  const other = index.similarTo(tenant, name);
  if (other === undefined) return null;
  return rejected('name_taken', reason('name_similar', { other }));
}

/** Why the server cannot use the name for a tool of its own; null if it can. */
export function serverNameProblem(index: ToolIndex, name: string): Rejection | null {
  const reserved = reservedProblem(name);
  if (reserved !== null) return reserved;
  if (index.hasServerTool(name))
    return rejected('name_taken', reason('tool_registered_twice', { tool: name }));
  const namesake = index.holderOf(NO_TENANT, name);
  if (namesake !== undefined)
    return rejected(
      'name_taken',
      reason('wire_name_held', { name, tool: namesake.name, holder: [reason('held_by_server')] }),
    );
  const tool = index.clientToolOfAnyTenant(name);
  if (tool === undefined) return null;
  // The message does not name a client of another tenant.
  const holder = reason('held_by_client', { client: tool.clientId, tool: tool.name });
  const why =
    tool.tenant === DEFAULT_TENANT
      ? reason('name_lent', { name, holder: [holder] })
      : reason('name_lent_elsewhere', { name });
  return rejected('name_taken', why);
}

type WireNames = Pick<RegisteredTool, 'wireName' | 'earlierWireName'>;

export function serverWireNames({ toolIndex, digest }: NameParts, name: string): WireNames {
  const isFree = (candidate: string): boolean => {
    const holder = toolIndex.holderOf(NO_TENANT, candidate);
    const isOwn = holder === undefined || holder.name === name;
    return isOwn && toolIndex.clientToolOfAnyTenant(candidate) === undefined;
  };
  return {
    wireName: toWireName(name, isFree, digest),
    earlierWireName: toEarlierWireName(name, isFree, digest),
  };
}

/**
 * Deterministic unless taken: a wire name must differ from every other tool's name and wire names. `stored`: the wire
 * name in the store, which the tool keeps; if it is too long, it becomes the earlier wire name.
 */
export function clientWireNames(
  { toolIndex, digest }: NameParts,
  tenant: string,
  name: string,
  stored: string | undefined,
): WireNames {
  const isFree = (candidate: string): boolean => {
    const holder = toolIndex.holderOf(tenant, candidate);
    return holder === undefined || holder.name === name;
  };
  const isLong = stored !== undefined && stored.length > WIRE_NAME_LENGTH;
  return {
    wireName: stored === undefined || isLong ? toWireName(name, isFree, digest) : stored,
    earlierWireName: isLong && isFree(stored) ? stored : toEarlierWireName(name, isFree, digest),
  };
}

/** Tools whose stored wire names are too long get new ones, which must differ from all names that stay. */
export function longWireNamesLast(tools: readonly StoredTool[]): readonly StoredTool[] {
  const isLong = ({ wireName }: StoredTool): boolean => wireName.length > WIRE_NAME_LENGTH;
  return [...tools.filter((tool) => !isLong(tool)), ...tools.filter(isLong)];
}

/** No tenant has this id: a lookup with it finds tools of this server only. */
const NO_TENANT = '';
