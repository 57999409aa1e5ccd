import { EventEmitter } from 'node:events';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { HeldBodies } from './held-bodies.ts';

/** A request with the members that `HeldBodies` reads, and its response, which the test closes. */
function aRequest(tenant: string | null = 'default'): { request: FastifyRequest; response: EventEmitter } {
  const response = new EventEmitter();
  const principal = tenant === null ? null : { tenant };
  const request = { principal, response, heldBytes: 0, body: { some: 'body' } };
  return { request: request as unknown as FastifyRequest, response };
}

describe('HeldBodies', () => {
  it('counts text and values until the response is closed, and releases them once', () => {
    const bodies = new HeldBodies(1000);
    const { request, response } = aRequest();
    expect(bodies.holdText(request, 100)).toBe(true);
    expect(bodies.holdValues(request, 2)).toBe(true);
    expect(bodies.total).toBe(300 + 256);
    response.emit('close');
    response.emit('close');
    expect(bodies.total).toBe(0);
  });

  it('refuses beyond its limit, releases what a refused request held, and accepts again later', () => {
    const bodies = new HeldBodies(1000);
    const [first, second] = [aRequest('a'), aRequest('b')];
    expect(bodies.holdText(first.request, 200)).toBe(true);
    expect(bodies.holdText(second.request, 100)).toBe(true);
    expect(bodies.holdValues(second.request, 2)).toBe(false);
    expect(bodies.total).toBe(600);
    second.response.emit('close');
    expect(bodies.total).toBe(600);
    first.response.emit('close');
    expect(bodies.holdText(second.request, 300)).toBe(true);
  });

  it('bounds one tenant to a share, so that others still fit', () => {
    const bodies = new HeldBodies(1000);
    expect(bodies.holdText(aRequest('busy').request, 200)).toBe(true);
    expect(bodies.holdText(aRequest('busy').request, 60)).toBe(false);
    expect(bodies.holdText(aRequest('other').request, 60)).toBe(true);
    expect(bodies.holdText(aRequest(null).request, 60)).toBe(true);
  });

  it('accepts a body of any size if it is the only one', () => {
    const bodies = new HeldBodies(1000);
    const { request } = aRequest();
    expect(bodies.holdText(request, 5000)).toBe(true);
    expect(bodies.holdValues(request, 100)).toBe(true);
    expect(bodies.holdText(aRequest().request, 1)).toBe(false);
  });

  it('can release a body before the response is closed', () => {
    const bodies = new HeldBodies(1000);
    const { request, response } = aRequest();
    bodies.holdText(request, 100);
    bodies.release(request);
    expect([bodies.total, request.body]).toEqual([0, undefined]);
    response.emit('close');
    expect(bodies.total).toBe(0);
  });
});
