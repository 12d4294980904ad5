    seen->crowd = 1;
    {
        int j, c;
        for (j = 0; j < count; j++) {
            cinoc_real square = 0, near;
            for (c = 0; c < @AXES@; c++) square += others[j][c] * others[j][c];
            near = 1 - square / @REACH@;
            if (near > 0) seen->crowd += near * near;
        }
    }
