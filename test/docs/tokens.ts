/**
 * Writes docs/tokens.md: `npm run tokens`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/source.ts';
import { tokensPage } from './token-table.ts';

writeFileSync(join(ROOT, 'docs/tokens.md'), await tokensPage());
