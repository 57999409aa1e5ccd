import { PromptInputRequired } from '../../../core/resources/prompt-inputs.ts';
import type { Prompt } from '../../../core/resources/resource.ts';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { PAGE_SIZE, pageResult, pageStart } from './list-page.ts';
import { packFailure } from '../messages/pack-failure.ts';
import { promptInput, promptInputRequired } from './prompt-input.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';

const PROMPTS = { list: 'prompts/list', plural: 'prompts' };

interface PromptParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

export function listPrompts(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal } = exchange;
  const start = pageStart(exchange, PROMPTS.list);
  const { items, nextCursor } = context.engine.resources.prompts(principal, start, PAGE_SIZE);
  return pageResult(exchange, PROMPTS, items.map(promptRow), nextCursor);
}

/** Nothing is recorded. A prompt that the principal may not see does not exist for it. */
export async function getPrompt(exchange: Exchange): Promise<string> {
  const { context, principal, params, response, era } = exchange;
  const { name, arguments: args = {} } = params as unknown as PromptParams;
  const input = promptInput(exchange);
  const given = await response.hold(
    async (signal) => await context.engine.resources.promptOrInput(principal, name, args, input, signal),
  );
  if (!given.ok) throw packFailure(given.failure, era);
  if (given.value instanceof PromptInputRequired) return promptInputRequired(name, given.value);
  const { description, messages } = given.value;
  return resultJson(era, membersOf({ description, messages }));
}

/** JSON omits the members that are undefined. */
function promptRow({ name, title, description, arguments: args = [] }: Prompt): string {
  const shown = args.map((argument) => ({
    name: argument.name,
    title: argument.title,
    description: argument.description,
    required: argument.required === true,
  }));
  return JSON.stringify({ name, title, description, arguments: shown });
}
