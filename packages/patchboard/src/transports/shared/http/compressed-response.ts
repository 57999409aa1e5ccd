import { constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsEncoding } from './accepted-encoding.ts';

/** Shorter responses fit into a few packets. */
const MIN_CHARACTERS = 8192;
/** A list of calls becomes a tenth at the lowest level already. */
const LEVEL = constants.Z_BEST_SPEED;

/** Whether the response is long, can be compressed for its client, and belongs to a request that is not on the path of a call. */
export function isCompressible({ method, headers }: FastifyRequest, text: string): boolean {
  return (
    text.length >= MIN_CHARACTERS && method === 'GET' && acceptsEncoding(headers['accept-encoding'], 'gzip')
  );
}

/** Compresses outside the event loop, and sets the headers of the response. */
export function compress(
  reply: FastifyReply,
  text: string,
  done: (error: Error | null, bytes: Buffer) => void,
): void {
  gzip(text, { level: LEVEL }, (error, bytes) => {
    const vary = reply.getHeader('vary');
    reply.headers({
      'content-encoding': 'gzip',
      vary: vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`,
    });
    done(error, bytes);
  });
}
