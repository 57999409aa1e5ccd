import {
  DEFINITION_END,
  DEFINITION_START,
  keyOfArgument,
  REQUEST_END,
  REQUEST_START,
  writeShownValue,
} from '@patchboard/wire/vcp';
import { descriptionOf } from '../method-contract.ts';
import { readType } from '../parameter-type.ts';
import type { ShownMethod, ToolDefinitionInput } from '../tool-module.ts';
import { parametersOf, type ShownParameter } from '../parameters.ts';

const USAGE =
  'You can call the tools below. To call one, write a request as its example shows, in plain text: what stands in a ' +
  'code fence or in inline code is not run. Several requests may stand in one reply. Every value stands between 「始」 ' +
  'and 「末」, exactly as it is, without escaping; a value that holds such a marker itself stands between 「始ESCAPE」 ' +
  'and 「末ESCAPE」. The results come with the next message.';

/** The tool definitions for the prompt. Text of a tool cannot end its definition or look like a request. */
export function formatDefinitions(tools: readonly ToolDefinitionInput[]): string {
  const blocks = tools.flatMap((tool) => tool.methods.map((method) => definitionOf(tool, method)));
  return blocks.length === 0 ? '' : [USAGE, ...blocks].join('\n\n');
}

function definitionOf(tool: ToolDefinitionInput, method: ShownMethod): string {
  const parameters = parametersOf(method);
  const naming = namingOf(tool, method);
  const fields: (readonly [string, string])[] = [
    ...naming,
    ['description', descriptionOf(method)],
    ['parameters', JSON.stringify(parameters)],
  ];
  const lines = fields.map(([key, value]) => `${key}:${writeShownValue(value)}`);
  return [DEFINITION_START, ...lines, exampleOf(naming, parameters), DEFINITION_END].join('\n');
}

/** A tool is named by its full name; a method of a module by its module and command. */
function namingOf({ toolId }: ToolDefinitionInput, method: ShownMethod): (readonly [string, string])[] {
  if (method.registeredName !== undefined) return [['tool_name', method.registeredName]];
  return [
    ['tool_name', toolId],
    ['command', method.protocolConfig?.vcpCommand ?? method.name],
  ];
}

/**
 * Written in a fence, so that a model that repeats its prompt calls nothing. A fence left open by a description hides
 * the example too, because a fence with an info string does not close one.
 */
function exampleOf(
  naming: readonly (readonly [string, string])[],
  parameters: readonly ShownParameter[],
): string {
  const isWhole = naming.length === 1;
  const shown = parameters.filter(({ name, required }) => required && /^[A-Za-z0-9_-]+$/.test(name));
  const fields = [
    ...naming.map(([key, value]) => `${key}:「始」${value}「末」`),
    ...shown.map((parameter) => {
      const { name } = parameter;
      const key = isWhole && name === 'command' ? name : keyOfArgument(name);
      return `${key}:「始」${placeholderFor(parameter)}「末」`;
    }),
  ];
  const request = [REQUEST_START, ...fields, REQUEST_END].join('\n');
  return `example:「始ESCAPE」\n\`\`\`text\n${request}\n\`\`\`\n「末ESCAPE」`;
}

/** Returns fixed text only: a default or an enum is text of the tool. */
function placeholderFor({ type }: ShownParameter): string {
  switch (readType(type).schema['type']) {
    case 'integer':
    case 'number':
      return '1';
    case 'boolean':
      return 'true';
    case 'array':
      return '[]';
    case 'object':
      return '{}';
    default:
      return '…';
  }
}
