import type { CompletionRequest } from '../../../core/resources/completion.ts';
import type { Exchange } from '../exchange.ts';
import { packFailure } from '../messages/pack-failure.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';

interface CompletionParams {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

/** `completion/complete`: suggests values for an argument of a prompt or a variable of a resource template. */
export async function complete(exchange: Exchange): Promise<string> {
  const { context, principal, params, response, era } = exchange;
  const { ref, argument, context: known = {} } = params as unknown as CompletionParams;
  const request: CompletionRequest = {
    of: ref.type === 'ref/prompt' ? { prompt: ref.name } : { resourceTemplate: ref.uri },
    name: argument.name,
    value: argument.value,
    arguments: known.arguments ?? {},
  };
  const found = await response.hold(
    async (signal) => await context.engine.resources.complete(principal, request, signal),
  );
  if (!found.ok) throw packFailure(found.failure, era);
  const { values, total, hasMore } = found.value;
  return resultJson(era, membersOf({ completion: { values, total, hasMore } }));
}
