import type { DiscoveredToolView, ParsedRequestView } from '@patchboard/wire';
import type { PatchboardClient } from '../client.ts';
import type { ToolCallConfig } from './tool-calling.ts';

export type IsSwitchedOn = (request: ParsedRequestView) => boolean;

/** Switches are set per tool or per module. Only the server knows the module of a tool, so this may fetch the list. */
export async function switchesOf(
  client: PatchboardClient,
  { toolToggles = {}, defaultToolEnabled = false }: ToolCallConfig,
  requests: readonly ParsedRequestView[],
): Promise<IsSwitchedOn> {
  const isNamed = (name: string): boolean => Object.hasOwn(toolToggles, name);
  const isOpen = Object.keys(toolToggles).length > 0 && !requests.every(({ toolName }) => isNamed(toolName));
  const config = { enabled: true, toolToggles, defaultToolEnabled };
  const offered = isOpen ? namesOf((await client.prompt({ config })).tools) : null;
  return ({ toolName, arguments: read }) => {
    if (isNamed(toolName)) return toolToggles[toolName] === true;
    // For an unknown tool the server returns an error.
    return offered === null || read === undefined ? defaultToolEnabled : offered.has(toolName);
  };
}

function namesOf(tools: readonly DiscoveredToolView[]): ReadonlySet<unknown> {
  return new Set(
    tools.flatMap(({ toolId, methods }) =>
      methods.map(({ name, registeredName }) => registeredName ?? `${toolId}_${name}`),
    ),
  );
}
