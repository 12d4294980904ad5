    static const cinoc_real length[@AXES@] = @LENGTHS@;
    int i;
//wall     seen->gap[0] = position[0];
//wall     seen->gap[1] = length[0] - position[0];
//ring     seen->gap[0] = seen->gap[1] = length[0];
    for (i = 0; i < count; i++) {
        cinoc_real d = others[i][0], left = -d, right = d;
        /* On a ring every agent is on both sides. */
//ring         if (left < 0) left += length[0];
//ring         if (right < 0) right += length[0];
        if (left >= 0 && left < seen->gap[0]) seen->gap[0] = left;
        if (right >= 0 && right < seen->gap[1]) seen->gap[1] = right;
    }
