/**
 * What is wrong with a value, in our own words: a library's wording may change, and follows its settings. SPEC: SCH12.
 */
import type { z } from 'zod';
import { clipped } from './json.ts';

/** One issue of a type, with the place in the value. */
export function sentence(issue: z.core.$ZodIssue): string {
  const at = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  switch (issue.code) {
    case 'invalid_type':
      return `${at}must be ${issue.expected === 'int' ? 'a whole number' : `of type ${issue.expected}`}`;
    case 'too_big':
      return `${at}must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}`;
    case 'too_small':
      return `${at}must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}`;
    case 'not_multiple_of':
      return `${at}must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return `${at}must match ${issue.pattern ?? issue.format}`;
    case 'unrecognized_keys':
      return `${at}has unknown keys: ${issue.keys.map((key) => clipped(key, 40)).join(', ')}`;
    case 'invalid_value':
      return `${at}must be one of ${listed(issue.values)}`;
    case 'custom':
      return `${at}${issue.message}`;
    default:
      return `${at}fits none of the declared types`;
  }
}

/** The first of the allowed values: there may be hundreds, and this is said of every value that is none of them. */
function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_SHOWN).map(String).join(', ');
  return values.length > VALUES_SHOWN ? `${shown} and ${values.length - VALUES_SHOWN} more` : shown;
}

const VALUES_SHOWN = 16;

function unitOf(origin: string): string {
  return origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '';
}
