    static const cinoc_real length[@AXES@] = @LENGTHS@;
    int i;
//wall     static const cinoc_real axis[8][2] = {
//wall         {1, 0}, {(cinoc_real)0.70710678118654752, (cinoc_real)0.70710678118654752}, {0, 1},
//wall         {(cinoc_real)-0.70710678118654752, (cinoc_real)0.70710678118654752}, {-1, 0},
//wall         {(cinoc_real)-0.70710678118654752, (cinoc_real)-0.70710678118654752}, {0, -1},
//wall         {(cinoc_real)0.70710678118654752, (cinoc_real)-0.70710678118654752}
//wall     };
//walls     for (i = 0; i < 8; i++) {
//walls         int c;
//walls         seen->gap[i] = length[0] + length[1];
//walls         for (c = 0; c < 2; c++) {
//walls             cinoc_real a = axis[i][c], wall = a > 0 ? (length[c] - position[c]) / a : a < 0 ? -position[c] / a : length[0] + length[1];
//walls             if (wall < seen->gap[i]) seen->gap[i] = wall;
//walls         }
//walls     }
//both     static const int periodic[2] = @PERIODIC@;
//both     for (i = 0; i < 8; i++) {
//both         int c = periodic[0] ? 1 : 0;
//both         cinoc_real a = axis[i][c];
//both         seen->gap[i] = a > 0 ? (length[c] - position[c]) / a : a < 0 ? -position[c] / a : length[1 - c];
//both     }
//ring     for (i = 0; i < 8; i++) seen->gap[i] = length[0] > length[1] ? length[0] : length[1];
    for (i = 0; i < count; i++) {
        cinoc_real x = others[i][0], y = others[i][1], ax = CINOC_MATH(fabs)(x), ay = CINOC_MATH(fabs)(y);
        /* The tangent of half a sector; distances are smooth at 0. */
        cinoc_real half = (cinoc_real)0.41421356, far = CINOC_MATH(sqrt)(x * x + y * y + (cinoc_real)1e-8);
        int sector = ay <= half * ax ? (x > 0 ? 0 : 4) : ax <= half * ay ? (y > 0 ? 2 : 6) : y > 0 ? (x > 0 ? 1 : 3) : (x > 0 ? 7 : 5);
        if (ax + ay > 0 && far < seen->gap[sector]) seen->gap[sector] = far;
    }
