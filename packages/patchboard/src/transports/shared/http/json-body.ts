import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { failure } from '../../../core/failures.ts';
import { parseGuardedJson } from '../../../core/json/json-guard.ts';
import type { JsonLimits } from '../../../core/json/json-scanner.ts';
import { RequestRefused } from '../routes/problem.ts';

/** `application/json` and nothing else: what Fastify takes besides would let a form or plain text through the door. */
export function acceptJsonOnly(app: FastifyInstance, limits: JsonLimits): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      done(new RequestRefused(failure('content_type', `a body in ${encoding} is not taken; send it plain`)));
      return;
    }
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    const parsed = decodeJson(body, limits);
    if (parsed instanceof RequestRefused) done(parsed);
    else done(null, parsed.value);
  });
}

function decodeJson(body: Buffer, limits: JsonLimits): { value: unknown } | RequestRefused {
  // Decoding would put a replacement character where the bytes are wrong: something else than was sent.
  if (!isUtf8(body)) return new RequestRefused(failure('body_invalid', 'the body is not UTF-8'));
  const parsed = parseGuardedJson(body.toString('utf8'), limits);
  if (parsed.ok) return parsed;
  const { problem, line, column } = parsed;
  return new RequestRefused(
    failure('body_invalid', `the body is not acceptable JSON: ${problem} (line ${line}, column ${column})`),
  );
}
