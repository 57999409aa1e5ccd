import { toolResultOf } from '@patchboard/client';
import { isContentValue, WIRE_LIMITS, type CallView, type ToolResultView } from '@patchboard/wire';
import { useQuery } from '@tanstack/vue-query';
import { toValue, type MaybeRefOrGetter } from 'vue';
import { prettyJson } from '../format.ts';
import { client } from './connection.ts';
import { keyOf, type QueryResult } from './queries.ts';

export const RESULT_FORMATS = ['anthropic', 'openai', 'vcp'] as const;

type ResultFormat = (typeof RESULT_FORMATS)[number];

export interface FormatQuestion {
  readonly format: ResultFormat;
  readonly call: CallView;
}

/** With its content, unless that is too large for a page of text: then pictures are named for every vendor. */
function resultOf(call: CallView): ToolResultView {
  const result = toolResultOf(call);
  if (!isContentValue(call.result) || JSON.stringify(call.result).length > WIRE_LIMITS.listedContent)
    return result;
  return { ...result, content: call.result };
}

/** The result of an ended call in a vendor's format, as the server encodes it for an agent. */
export function useFormattedResult(asked: MaybeRefOrGetter<FormatQuestion | null>): QueryResult<string> {
  return useQuery({
    queryKey: keyOf('format', () => {
      const question = toValue(asked);
      return question === null ? null : [question.format, question.call.tool_call_id, question.call.state];
    }),
    queryFn: async ({ signal }) => {
      const question = toValue(asked);
      if (question === null) throw new Error('nothing was asked');
      const { format, call } = question;
      const text = await client.value.formatResults(format, [resultOf(call)], { signal });
      return format === 'vcp' ? text : prettyJson(JSON.parse(text));
    },
    enabled: () => toValue(asked) !== null,
    staleTime: Infinity,
  });
}
