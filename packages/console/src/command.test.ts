import { describe, expect, it } from 'vitest';
import { commandFor, operatorCommandFor } from './command.ts';

describe('a command to copy', () => {
  it.each([
    ['http://127.0.0.1:8080', 'npx patchboard call x'],
    ['http://localhost:8080', 'npx patchboard call x'],
    ['http://127.0.0.1:9000', 'npx patchboard call x --url http://127.0.0.1:9000'],
    ['http://board.example:8080', 'npx patchboard call x --url http://board.example:8080'],
  ])('reaches %s', (origin, typed) => {
    expect(commandFor('call x', origin)).toBe(typed);
  });

  it.each([
    ['http://127.0.0.1:8080', 'npx patchboard login'],
    ['http://127.0.0.1:9000', 'npx patchboard login --url http://127.0.0.1:9000'],
    ['http://[::1]:9000', 'npx patchboard login --url http://[::1]:9000'],
    ['https://board.example', 'npx patchboard login'],
  ])('for operators names %s only where it is this machine', (origin, typed) => {
    expect(operatorCommandFor('login', origin)).toBe(typed);
  });
});
