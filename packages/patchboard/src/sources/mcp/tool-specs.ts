import {
  reason,
  type FailureCode,
  type JsonSchema,
  type Reason,
  type RejectedTool,
  type ToolAnnotations,
} from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { rejected, rejectedTool } from '../../core/tools/registered-tool.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { META } from '../../protocols/mcp/revisions.ts';
import { isSelected } from '../shared/name-patterns.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import { nameUpstreamTools } from '../shared/tool-names.ts';
import type { McpConnection, McpToolList } from './mcp-connection.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';

/** The target of an upstream's tool. */
export interface McpTarget {
  /** The name at the upstream. */
  readonly tool: string;
}

/** The tools that an upstream offers, and those that it cannot offer. */
export interface ToolSpecs {
  readonly tools: readonly UpstreamTool[];
  readonly rejected: readonly RejectedTool[];
}

type Json = Readonly<Record<string, unknown>>;
type Mask = Pick<SecretMask, 'text' | 'value'>;
type Era = McpConnection['era'];

export interface ToolListContext {
  readonly era: Era;
  readonly mask: Mask;
  /** The id of this server. */
  readonly instanceId: string;
}

/** A tool that passes through more servers than that cannot be called: see the hops of a call. */
const MOST_INSTANCES = 8;
const INSTANCE_CHARACTERS = 128;

/** Converts the tool list of an upstream. Schemas stay as they were received, apart from secret values. */
export function readToolList(
  settings: McpUpstreamSettings,
  { tools: listed, omitted, instance }: McpToolList,
  { era, mask, instanceId }: ToolListContext,
): ToolSpecs {
  const { name: upstream } = settings;
  const selected = listed.filter((given) => isSelected([nameOf(given)], settings.tools));
  const { named, rejected: unnamed } = nameUpstreamTools(upstream, selected.map(nameOf));
  const tools: UpstreamTool[] = [];
  const refused: RejectedTool[] = [...unnamed];
  for (const { index, original, name } of named) {
    const given = selected[index] ?? {};
    const via = [...instancesIn(given), ...(instance === null ? [] : [instance])];
    const problem = toolProblem(upstream, given, era);
    if (via.includes(instanceId))
      refused.push(notOffered(name, 'conflict', reason('upstream_tool_loop', { upstream })));
    else if (problem !== null) refused.push(notOffered(name, 'schema_invalid', problem));
    else tools.push(upstreamTool(settings, { name, original, via }, mask.value(given) as Json));
  }
  if (omitted > 0)
    refused.push(notOffered('', 'too_large', reason('upstream_tools_omitted', { upstream, count: omitted })));
  return { tools, rejected: refused };
}

/** Empty if it has none: such a tool is rejected. */
function nameOf({ name }: Json): string {
  return typeof name === 'string' ? name : '';
}

/** The servers behind the upstream that the tool passes through, as a Patchboard declares them. */
function instancesIn({ _meta: meta }: Json): readonly string[] {
  const via = isRecord(meta) ? meta[META.via] : undefined;
  if (!Array.isArray(via)) return [];
  return (via as readonly unknown[])
    .filter((id): id is string => typeof id === 'string' && id.length <= INSTANCE_CHARACTERS)
    .slice(0, MOST_INSTANCES);
}

function toolProblem(upstream: string, { inputSchema, execution }: Json, era: Era): Reason | null {
  if (!isRecord(inputSchema)) return reason('upstream_tool_without_schema', { upstream });
  const needsTask = era === 'legacy' && isRecord(execution) && execution['taskSupport'] === 'required';
  return needsTask ? reason('upstream_tool_needs_tasks', { upstream }) : null;
}

/** `given`: masked. */
function upstreamTool(
  settings: McpUpstreamSettings,
  {
    name,
    original,
    via,
  }: { readonly name: string; readonly original: string; readonly via: readonly string[] },
  given: Json,
): UpstreamTool {
  const { title, description, inputSchema, outputSchema, annotations } = given;
  const hints = isRecord(annotations) ? annotations : {};
  const { openWorldHint } = hints;
  return {
    name,
    description: textOf(description) ?? textOf(title) ?? '',
    inputSchema: inputSchema as JsonSchema,
    outputSchema: isRecord(outputSchema) ? outputSchema : null,
    annotations: annotationsOf(settings, hints),
    metadata: {
      upstream: settings.name,
      tool: original,
      ...(textOf(title) === undefined ? {} : { title }),
      ...(typeof openWorldHint === 'boolean' ? { openWorldHint } : {}),
    },
    target: { tool: original } satisfies McpTarget,
    ...(via.length === 0 ? {} : { via }),
  };
}

/** A tool that calls itself both readonly and destructive is destructive. */
function annotationsOf({ hints, inputRequests }: McpUpstreamSettings, given: Json): ToolAnnotations {
  const { readOnlyHint, destructiveHint, idempotentHint } = given;
  const isDestructive = destructiveHint === true;
  const isBelieved = hints === 'believe';
  return {
    ...(isDestructive ? { destructive: true } : {}),
    ...(isBelieved && readOnlyHint === true && !isDestructive ? { readonly: true } : {}),
    ...(isBelieved && idempotentHint === true ? { idempotent: true } : {}),
    ...(inputRequests ? { asks_input: true } : {}),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function notOffered(name: string, code: FailureCode, why: Reason): RejectedTool {
  return rejectedTool(name, rejected(code, why));
}
