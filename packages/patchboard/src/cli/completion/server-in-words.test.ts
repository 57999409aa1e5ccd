import { expect, it } from 'vitest';
import { serverInWords } from './server-in-words.ts';

it.each([
  ['patchboard call', {}],
  ['patchboard call --profile prod', { profile: 'prod' }],
  ['patchboard call --profile=prod x', { profile: 'prod' }],
  ['patchboard call --profile = prod x', { profile: 'prod' }],
  ['patchboard call --profile', {}],
  ['patchboard call --url http://127.0.0.1:9 x', { url: 'http://127.0.0.1:9' }],
  ['patchboard call --url http : //127.0.0.1 : 9 x', { url: 'http://127.0.0.1:9' }],
  ['patchboard call --url = http : //127.0.0.1 : 9 --profile p', { url: 'http://127.0.0.1:9', profile: 'p' }],
])('finds the server in %j', (line, server) => {
  expect(serverInWords(line.split(' '))).toEqual(server);
});
