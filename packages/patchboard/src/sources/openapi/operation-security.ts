import { isRecord, type JsonObject } from '@patchboard/wire/json';
import type { SecurityRequirement, SecurityScheme } from './operation.ts';
import type { Description } from './read-description.ts';

/** Returns the alternatives of an operation, else those of the document. Throws an `OperationProblem`. */
export function securityOf(
  operation: JsonObject,
  description: Description,
): readonly (readonly SecurityRequirement[])[] {
  const alternatives = operation['security'] ?? description.document['security'];
  if (!Array.isArray(alternatives)) return [];
  return alternatives.filter(isRecord).map((schemes) =>
    Object.entries(schemes).map(([name, scopes]) => ({
      name,
      scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
      scheme: schemeOf(name, description),
    })),
  );
}

function schemeOf(name: string, { document, references }: Description): SecurityScheme {
  const { components } = document;
  const schemes = isRecord(components) ? components['securitySchemes'] : undefined;
  const given = isRecord(schemes) && Object.hasOwn(schemes, name) ? references.follow(schemes[name]) : null;
  return isRecord(given) ? knownScheme(given) : { type: 'unknown' };
}

function knownScheme(given: JsonObject): SecurityScheme {
  const { type, in: place, name, scheme, flows } = given;
  switch (type) {
    case 'apiKey':
      return (place === 'header' || place === 'query' || place === 'cookie') && typeof name === 'string'
        ? { type, in: place, name }
        : { type: 'unknown' };
    case 'http':
      return typeof scheme === 'string' ? { type, scheme: scheme.toLowerCase() } : { type: 'unknown' };
    case 'oauth2': {
      const flow = isRecord(flows) ? flows['clientCredentials'] : undefined;
      const tokenUrl = isRecord(flow) ? flow['tokenUrl'] : undefined;
      return typeof tokenUrl === 'string' ? { type, tokenUrl } : { type };
    }
    case 'openIdConnect':
    case 'mutualTLS':
      return { type };
    default:
      return { type: 'unknown' };
  }
}
