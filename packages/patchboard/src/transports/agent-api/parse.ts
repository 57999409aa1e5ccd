import type { FastifyReply } from 'fastify';
import { reportReply } from '../../protocols/parse-report.ts';
import { PROTOCOL_IDS, protocolOf, type ProtocolId } from '../../protocols/protocols.ts';
import { toolFinder } from '../../protocols/registered-tools.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { ANY, enumOf, FLAG, listOf, object, REASONS, TEXT } from '../shared/routes/schemas.ts';

const PROBLEM = object(
  {
    code: TEXT,
    message: TEXT,
    reasons: REASONS,
    line: { type: 'integer' },
    column: { type: 'integer' },
  },
  ['reasons'],
);

export const parseRoute: Route = route({
  method: 'POST',
  url: '/v1/parse',
  name: 'parseReply',
  api: 'agent',
  summary:
    "Parse a model's reply: its calls, how each argument is read, and its errors. Nothing is called. " +
    "Each 8 KiB count as a call against the caller's rate limit. `omitted` counts what the report leaves out.",
  scope: 'tools:call',
  body: object({
    protocol: enumOf(PROTOCOL_IDS),
    text: { ...TEXT, description: 'the text of the model, or the body or event stream of a vendor as text' },
  }),
  responses: {
    200: {
      description: 'the report, as `patchboard parse --json` prints it',
      schema: object(
        {
          requests: listOf(
            object(
              {
                requestId: TEXT,
                toolName: TEXT,
                command: TEXT,
                args: { type: 'object' },
                line: { type: 'integer' },
                column: { type: 'integer' },
                arguments: listOf(ANY),
                noReply: FLAG,
              },
              ['command', 'arguments', 'noReply'],
            ),
          ),
          errors: listOf(PROBLEM),
          warnings: listOf(PROBLEM),
          omitted: object({
            requests: { type: 'integer' },
            errors: { type: 'integer' },
            arguments: { type: 'integer' },
          }),
        },
        ['warnings', 'omitted'],
      ),
    },
  },
  refusals: ['rate_limited'],
  handle: parse,
});

async function parse(
  context: HttpContext,
  request: RequestWith<{ body: { protocol: ProtocolId; text: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { protocol, text } = request.body;
  const { engine } = context;
  const principal = principalOf(request);
  const tooFast = engine.chargeReply(principal, Buffer.byteLength(text));
  if (tooFast !== null) {
    sendProblem(reply, tooFast);
    return;
  }
  const names = engine.tools(principal).map(({ name }) => name);
  const report = await reportReply(protocolOf(protocol), text, {
    find: toolFinder(engine.namedTools(principal)),
    names,
    pause: context.turns.next,
  });
  sendJson(reply, 200, JSON.stringify(report));
}
