import fc from 'fast-check';
import { histories, play, sampleState } from './testing/index.ts';
for (let i = 0; i < 48; i++) sampleState(i);
const t0 = performance.now();
fc.assert(fc.property(histories(), (h) => { play(h); }), { numRuns: 10000, seed: 1 });
console.log('play', performance.now() - t0);
