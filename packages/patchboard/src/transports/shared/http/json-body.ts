import { reason } from '@patchboard/wire';
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { failure } from '../../../core/failures.ts';
import { countJsonValues } from '../../../core/json/json-guard.ts';
import type { JsonLimits } from '../../../core/json/json-scanner.ts';
import { RequestRefused } from '../routes/problem.ts';
import type { HeldBodies } from './held-bodies.ts';

/** Accepts only `application/json`: browsers send forms and plain text cross-origin without a preflight request. */
export function acceptJsonOnly(app: FastifyInstance, limits: JsonLimits, bodies: HeldBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      done(new RequestRefused(failure('content_type', reason('body_encoded', { encoding }))));
      return;
    }
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    const parsed = decodeJson(request, body, limits, bodies);
    if (parsed instanceof RequestRefused) done(parsed);
    else done(null, parsed.value);
  });
}

function decodeJson(
  request: FastifyRequest,
  body: Buffer,
  limits: JsonLimits,
  bodies: HeldBodies,
): { value: unknown } | RequestRefused {
  if (!bodies.holdText(request, body.length)) return noRoom();
  // Decoding would silently replace invalid bytes.
  if (!isUtf8(body))
    return new RequestRefused(failure('body_invalid', reason('body_not_utf8')), body.toString('latin1'));
  const text = body.toString('utf8');
  const counted = countJsonValues(text, limits);
  if (typeof counted === 'number')
    return bodies.holdValues(request, counted) ? { value: JSON.parse(text) } : noRoom();
  const { reason: why, line, column } = counted;
  return new RequestRefused(
    failure('body_invalid', reason('body_bad_json', { problem: [why], line, column })),
    text,
  );
}

function noRoom(): RequestRefused {
  return new RequestRefused(failure('overloaded', reason('bodies_held_full')));
}
