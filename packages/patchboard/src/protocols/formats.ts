import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import { anthropicTools } from './anthropic/anthropic-protocol.ts';
import { chatTools, openAiFunctions, responsesTools } from './openai/openai-tools.ts';
import { definitionsOf } from './registered-tools.ts';
import { formatDefinitions } from './vcp/definitions.ts';

/** Every format in which tools can be listed. */
export const TOOL_FORMATS = ['openai', 'openai-responses', 'anthropic', 'mcp', 'vcp'] as const;
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** Text for a prompt, or JSON text with `tools` for a request to the vendor. */
export type FormattedTools =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'json'; readonly json: string };

/** MCP is not among the formats: its list is cached per tool (`ToolLists`). */
export function formatTools(
  format: Exclude<ToolFormat, 'mcp'>,
  tools: readonly RegisteredTool[],
): FormattedTools {
  switch (format) {
    case 'vcp':
      return { type: 'text', text: formatDefinitions(definitionsOf(tools)) };
    case 'anthropic':
      return json({ tools: anthropicTools(definitionsOf(tools)) });
    case 'openai': {
      const { functions, conversions } = openAiFunctions(definitionsOf(tools));
      return json({ tools: chatTools(functions), conversions });
    }
    case 'openai-responses': {
      const { functions, conversions } = openAiFunctions(definitionsOf(tools));
      return json({ tools: responsesTools(functions), conversions });
    }
  }
}

function json(value: unknown): FormattedTools {
  return { type: 'json', json: JSON.stringify(value) };
}
