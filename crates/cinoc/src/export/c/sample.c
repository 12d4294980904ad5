
/* z - z* at any position. */
static cinoc_real cinoc_error(const cinoc_real *at, cinoc_real (*error)(const cinoc_real *at, void *context),
                              void *context)
{
    static const cinoc_real length[@AXES@] = @LENGTHS@;
    cinoc_real inside[@AXES@];
    int c;
//both     static const int periodic[@AXES@] = @PERIODIC@;
//both     cinoc_real around[@AXES@];
//both     for (c = 0; c < @AXES@; c++) {
//both         around[c] = periodic[c] ? at[c] - length[c] * CINOC_MATH(floor)(at[c] / length[c]) : at[c];
//both     }
//both     at = around;
//wall     for (c = 0; c < @AXES@; c++) {
//wall         cinoc_real wall = at[c] < 0 ? 0 : length[c];
//wall         int d;
//wall         if (at[c] >= 0 && at[c] <= length[c]) continue;
//wall         /* Beyond a wall the field is reflected through its value there. */
//wall         for (d = 0; d < @AXES@; d++) inside[d] = at[d];
//wall         inside[c] = 2 * wall - at[c];
//wall         {
//wall             cinoc_real mirrored = error(inside, context);
//wall             inside[c] = wall;
//wall             return 2 * error(inside, context) - mirrored;
//wall         }
//wall     }
//wall     for (c = 0; c < @AXES@; c++) inside[c] = at[c];
//ring     for (c = 0; c < @AXES@; c++) inside[c] = at[c] - length[c] * CINOC_MATH(floor)(at[c] / length[c]);
    return error(inside, context);
}

void cinoc_sample(cinoc_observation *seen, const cinoc_real *position,
                  cinoc_real (*error)(const cinoc_real *at, void *context), void *context)
{
//slope     static const cinoc_real step[@AXES@] = @STEPS@;
//wall     static const cinoc_real length[@AXES@] = @LENGTHS@;
//both     static const int periodic[@AXES@] = @PERIODIC@;
    int i, c;
    for (i = 0; i < @POINTS@; i++) {
        cinoc_real at[@AXES@];
        for (c = 0; c < @AXES@; c++) {
            at[c] = position[c] + cinoc_offset[i][c];
//both             if (periodic[c]) continue;
//wall             at[c] = at[c] < 0 ? 0 : at[c] > length[c] ? length[c] : at[c];
        }
        seen->error[i] = cinoc_error(at, error, context);
//slope         for (c = 0; c < @AXES@; c++) {
//slope             cinoc_real here = at[c], ahead, behind;
//slope             at[c] = here + step[c];
//slope             ahead = cinoc_error(at, error, context);
//slope             at[c] = here - step[c];
//slope             behind = cinoc_error(at, error, context);
//slope             at[c] = here;
//slope             seen->slope[@AXES@ * i + c] = (ahead - behind) / (2 * step[c]);
//slope         }
    }
}
