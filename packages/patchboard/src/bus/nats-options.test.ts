import { describe, expect, it } from 'vitest';
import { BadNatsUrl, natsOptions } from './nats-options.ts';

const NONE = { user: undefined, password: undefined, token: undefined, requiresTls: false, tls: {} };

describe('a URL of NATS', () => {
  it.each([
    ['nats://queue', { ...NONE, servers: ['queue:4222'], shown: 'nats://queue' }],
    ['queue:4333', { ...NONE, servers: ['queue:4333'], shown: 'nats://queue:4333' }],
    ['tls://queue', { ...NONE, servers: ['queue:4222'], requiresTls: true, shown: 'tls://queue' }],
    ['nats://[::1]:4222', { ...NONE, servers: ['[::1]:4222'], shown: 'nats://[::1]:4222' }],
    [
      'nats://ann:p%40ss%2Fw@queue:4222/',
      { ...NONE, servers: ['queue:4222'], user: 'ann', password: 'p@ss/w', shown: 'nats://queue:4222' },
    ],
    ['nats://s3cr3t@queue', { ...NONE, servers: ['queue:4222'], token: 's3cr3t', shown: 'nats://queue' }],
    [
      'nats://t@a:1, nats://b:2',
      { ...NONE, servers: ['a:1', 'b:2'], token: 't', shown: 'nats://a:1,nats://b:2' },
    ],
  ])('reads %s', (url, expected) => {
    expect(natsOptions(url)).toEqual(expected);
  });

  it('requires TLS with a certificate', () => {
    expect(natsOptions('nats://queue', { ca: 'PEM' })).toMatchObject({
      requiresTls: true,
      tls: { ca: 'PEM' },
    });
  });

  it.each([
    '',
    'http://queue',
    'nats://',
    'nats://queue/pb',
    'nats://queue?tls=1',
    'nats://a:pass word@queue:x',
  ])('refuses %j, without a word of its password', (url) => {
    expect(() => natsOptions(url)).toThrow(BadNatsUrl);
    expect(() => natsOptions(url)).toThrow(/^must be a URL such as nats:\/\/user:password@host:4222/);
    expect(() => natsOptions(url)).not.toThrow(/pass word/);
  });

  it('refuses a password with a stray percent sign', () => {
    expect(() => natsOptions('nats://ann:50%@queue')).toThrow(/write it as %25/);
  });
});
