import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { HttpResponse } from './a-server.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

interface Checker {
  readonly ajv: Ajv2020;
  readonly validators: Map<string, ValidateFunction>;
}

const checkers = new WeakMap<OpenApiDocument, Checker>();

/** Throws if a response does not match the OpenAPI document. */
export function checkAgainst(
  document: OpenApiDocument,
  given: { method: string; path: string; reply: HttpResponse },
): void {
  const { method, path, reply } = given;
  const route = routeOf(document, method, path.split('?')[0]!);
  if (route === undefined) {
    if (reply.status === 404 || reply.status === 400) return; // no route: not documented
    throw new Error(`${method} ${path} returned ${reply.status}, which is not in the document`);
  }
  const operation = document.paths[route]![method.toLowerCase()]!;
  const response = operation.responses[String(reply.status)];
  if (response === undefined) throw new Error(`${method} ${route}: status ${reply.status} is not declared`);
  if (reply.json === undefined) return;
  const type = (reply.headers.get('content-type') ?? '').split(';')[0]!;
  if (response.content?.[type] === undefined) throw new Error(`${method} ${route}: ${type} is not declared`);
  const validate = validatorFor(document, [
    'paths',
    route,
    method.toLowerCase(),
    'responses',
    String(reply.status),
    'content',
    type,
    'schema',
  ]);
  if (validate(reply.json)) return;
  throw new Error(
    `${method} ${route} ${reply.status}: ${JSON.stringify(validate.errors?.slice(0, 3))}\n${reply.text}`,
  );
}

export function validatorFor(document: OpenApiDocument, path: readonly string[]): ValidateFunction {
  let checker = checkers.get(document);
  if (checker === undefined) {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default(ajv);
    ajv.addSchema(document as object, 'document');
    checker = { ajv, validators: new Map() };
    checkers.set(document, checker);
  }
  const pointer = path
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const known = checker.validators.get(pointer);
  if (known !== undefined) return known;
  const validate = checker.ajv.compile({ $ref: `document#/${pointer}` });
  checker.validators.set(pointer, validate);
  return validate;
}

function routeOf(document: OpenApiDocument, method: string, path: string): string | undefined {
  const given = path.split('/');
  const fits = (route: string): boolean => {
    const parts = route.split('/');
    return (
      parts.length === given.length &&
      parts.every((part, index) => (part.startsWith('{') ? given[index] !== '' : part === given[index]))
    );
  };
  const found = Object.keys(document.paths).filter(
    (route) => document.paths[route]![method.toLowerCase()] !== undefined && fits(route),
  );
  // A route without parameters takes precedence.
  return found.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}
