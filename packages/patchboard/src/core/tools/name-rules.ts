import { DEFAULT_TENANT } from '../access/principal.ts';
import type { Digest } from '../ports.ts';
import { rejected, type Rejection } from './registered-tool.ts';
import type { ToolIndex } from './tool-index.ts';
import { toWireName } from './tool-names.ts';

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
  return (
    takenProblem(index, tenant, clientId, name) ?? (isStored ? null : similarProblem(index, tenant, name))
  );
}

function takenProblem(index: ToolIndex, tenant: string, clientId: string, name: string): Rejection | null {
  const holder = index.holderOf(tenant, name);
  if (holder === undefined) return null;
  const isSame = holder.name === name;
  if (isSame && holder.clientId === clientId) return null;
  const what = isSame ? name : `${name} is the wire name of ${holder.name}, which`;
  // The tenant does not see the tools of packs that it does not have.
  if (!index.isOffered(tenant, holder))
    return rejected('name_taken', `${name} is reserved by this server: use another name`);
  const owner = index.clientTool(tenant, holder.name)?.clientId;
  if (owner === undefined)
    return rejected('name_taken', `${what} is a tool of this server: use another name`);
  return rejected('name_taken', `${what} ${heldBy(holder.name, owner)}`);
}

/** Rejects a new name that a model or an operator could confuse with an existing one. A registered name is not new. */
function similarProblem(index: ToolIndex, tenant: string, name: string): Rejection | null {
  if (index.clientTool(tenant, name) !== undefined) return null;
  const other = index.similarTo(tenant, name);
  if (other === undefined) return null;
  const reason = `the name differs from that of the tool ${other} only in case, dots or underscores; choose another`;
  return rejected('name_taken', reason);
}

/** Why the server cannot use the name for a tool of its own; null if it can. */
export function serverNameProblem(index: ToolIndex, name: string): Rejection | null {
  if (index.hasServerTool(name)) return rejected('name_taken', `tool registered twice: ${name}`);
  const namesake = index.holderOf(NO_TENANT, name);
  if (namesake !== undefined)
    return rejected(
      'name_taken',
      `${name} is the wire name of ${namesake.name}, which is a tool of this server`,
    );
  const tool = index.clientToolOfAnyTenant(name);
  if (tool === undefined) return null;
  // The message does not name a client of another tenant.
  const holder =
    tool.tenant === DEFAULT_TENANT
      ? `a client lends a tool under the name ${name}: it ${heldBy(tool.name, tool.clientId)}`
      : `a client lends a tool under the name ${name} in another tenant: use another name`;
  return rejected('name_taken', holder);
}

export function freeServerWireName({ toolIndex, digest }: NameParts, name: string): string {
  const isFree = (candidate: string): boolean => {
    const holder = toolIndex.holderOf(NO_TENANT, candidate);
    const isOwn = holder === undefined || holder.name === name;
    return isOwn && toolIndex.clientToolOfAnyTenant(candidate) === undefined;
  };
  return toWireName(name, isFree, digest);
}

/** Deterministic unless taken. A wire name must differ from every other tool's name and wire name. */
export function freeWireName({ toolIndex, digest }: NameParts, tenant: string, name: string): string {
  const isFree = (candidate: string): boolean => {
    const holder = toolIndex.holderOf(tenant, candidate);
    return holder === undefined || holder.name === name;
  };
  return toWireName(name, isFree, digest);
}

/** No tenant has this id: a lookup with it finds tools of this server only. */
const NO_TENANT = '';

/** The part of an error message that names the tool's client and how to free the name. */
function heldBy(name: string, clientId: string): string {
  const route = `DELETE /internal/clients/${encodeURIComponent(clientId)}/tools/${encodeURIComponent(name)}`;
  return (
    `belongs to client ${clientId} of this tenant: use another name, or have that client release it ` +
    `(${route}, \`unregister_tools\` on its socket, or the end of its connection)`
  );
}
